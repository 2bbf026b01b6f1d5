"""JUnit XML for build servers: a suite per scenario, a case per actor and trial.

``fail`` is a failure, ``not_judged`` an error (it says nothing about the actor). Skipped are ``pending``, places of the
plan that were not run, what did not pass in quarantine, and stale recordings of a run that was told to go on: nothing
drops out of the count.

Earlier attempts stand in the case of their trial as Surefire writes reruns: ``flakyFailure`` and ``flakyError`` where
the last attempt passed, else ``rerunFailure`` and ``rerunError``. Who does not know these elements finds the same in
``system-out``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from harness.ports import Reporter
from harness.qualification.trials import trial_of
from harness.reporters._evidence import code_or_ending, ending, evidence, told
from harness.reporters._rows import (
    Episode,
    by_trial,
    episodes,
    not_run,
    plain,
    planned_trial,
    steps_in_short,
)
from harness.reporters._spending import cost_line
from harness.reporters._stale import proves_nothing, to_do, tolerated
from harness.reporters._xml import element
from harness.schema.money import dollars_of
from harness.schema.run import PlannedEpisode, RunView
from harness.schema.verdict import Verdict

__all__ = ["JunitReporter", "build"]

#: All attempts at an episode, the one that counts last.
Trial = tuple[Episode, ...]
#: The trials of a scenario, and the places of the plan that are empty.
_Parts = tuple[list[Trial], list[PlannedEpisode]]
#: Its name and its value; None where there is none to tell.
_Property = tuple[str, str | None]


class JunitReporter:
    """One XML file."""

    name = "junit"
    filename = "junit.xml"

    def render(self, view: RunView) -> str:
        """The whole file; well-formed whatever the texts are."""
        trials, empty = by_trial(episodes(view)), not_run(view)
        # of the run: what is paid for in vain is of no suite, and build servers show nothing above one
        decided = ((f"decision:{one.who}", "; ".join((one.headline, *one.lines))) for one in view.decisions)
        of_run = (("run", cost_line(view)), ("run_id", view.manifest.run_id), *decided)
        names = [place.scenario for place in view.manifest.plan] + [tries[-1].receipt.scenario for tries in trials]
        of_name: dict[str, _Parts] = {name: ([], []) for name in names}
        for tries in trials:
            of_name[tries[-1].receipt.scenario][0].append(tries)
        for place in empty:
            of_name[place.scenario][1].append(place)
        named = {"name": f"harness {view.manifest.run_id}"}
        planned = planned_trial(view)
        suites = (
            line
            for name, parts in of_name.items()
            for line in _suite(name, (*of_run, *_about(name, parts[0], view)), parts, view, planned)
        )
        lines = element(0, "testsuites", {**named, **_totals(trials, empty, quiet=tolerated(view))}, suites)
        return "\n".join(('<?xml version="1.0" encoding="utf-8"?>', *lines, ""))


def build() -> Reporter:
    """The entry of this file."""
    return JunitReporter()


def _suite(
    name: str, about: Iterable[_Property], parts: _Parts, view: RunView, planned: Callable[[PlannedEpisode], str]
) -> Iterator[str]:
    trials, empty = parts
    quiet, why = tolerated(view), "; ".join(view.manifest.stopped)
    totals = _totals(trials, empty, quiet=quiet)
    inside = chain(_properties(2, about), chain.from_iterable(_case(tries, quiet=quiet) for tries in trials))
    skipped = tuple(element(3, "skipped", {"message": f"not run: {why}" if why else "not run"}))
    left = (
        line
        for place in empty
        for line in element(
            2, "testcase", {"name": planned(place), "time": "0.000", "classname": _class(place.scenario)}, skipped
        )
    )
    attributes = {"name": name, "timestamp": view.manifest.created_at, **totals}
    return element(1, "testsuite", attributes, chain(inside, left))


def _about(name: str, trials: Sequence[Trial], view: RunView) -> Iterator[_Property]:
    """What all cases of a suite have in common: the digests of what was asked, and of who answered."""
    yield "scenario_digest", next((one.digest for one in view.manifest.scenarios if one.id == name), None)
    for actor in {tries[-1].receipt.actor.digest: tries[-1].receipt.actor for tries in trials}.values():
        yield f"actor_digest:{actor.ref}", actor.digest


def _properties(depth: int, told: Iterable[_Property]) -> Iterator[str]:
    """Those that have a value; no empty element, which some schemas refuse."""
    lines = [_property(depth + 1, name, value) for name, value in told if value is not None]
    return element(depth, "properties", {}, lines) if lines else iter(())


@lru_cache(4096)
def _property(depth: int, name: str, value: str) -> str:
    """Of many cases most say what others say too."""
    return next(element(depth, "property", {"name": name, "value": value}))


def _totals(trials: Sequence[Trial], empty: Sequence[PlannedEpisode], *, quiet: bool) -> dict[str, str]:
    verdicts = Counter(_counted(tries[-1], quiet=quiet) for tries in trials)
    return {
        "tests": str(len(trials) + len(empty)),
        "failures": str(verdicts["fail"]),
        "errors": str(verdicts["not_judged"]),
        "skipped": str(verdicts["pending"] + len(empty)),
        "time": f"{sum(row.seconds for tries in trials for row in tries):.3f}",
    }


def _counted(row: Episode, *, quiet: bool) -> Verdict:
    """As build servers shall count it: what the run goes on from, or set aside, breaks no build."""
    aside = row.quarantine is not None and row.receipt.verdict != "pass"
    return "pending" if aside or (quiet and row.stale) else row.receipt.verdict


def _case(tries: Trial, *, quiet: bool) -> Iterator[str]:
    *earlier, row = tries
    receipt, verdict = row.receipt, _counted(row, quiet=quiet)
    seconds = f"{sum(one.seconds for one in tries):.3f}"
    inside = [*_properties(3, _of_case(tries))]
    if receipt.verdict != "pass":
        tag = {"fail": "failure", "not_judged": "error", "pending": "skipped"}[verdict]
        kind = {} if verdict == "pending" else {"type": receipt.cause or "unknown"}
        inside += element(3, tag, {"message": _message(row), **kind}, text=_evidence(row))
    for one in earlier:
        kind_of = "Failure" if one.receipt.verdict == "fail" else "Error"
        tag = f"{'flaky' if receipt.verdict == 'pass' else 'rerun'}{kind_of}"
        about = {"message": _message(one), "type": one.receipt.cause or "unknown"}
        inside += element(3, tag, about, element(4, "stackTrace", {}, text=_evidence(one)))
    if earlier:
        lines = (f"attempt {one.receipt.attempt}: {_message(one)}, {one.seconds:.3f} s" for one in earlier)
        inside += element(3, "system-out", {}, text="\n".join(lines))
    attributes = {"name": row.played, "time": seconds, "classname": _class(receipt.scenario)}
    return element(2, "testcase", attributes, inside)


def _of_case(tries: Trial) -> Iterator[_Property]:
    row = tries[-1]
    receipt = row.receipt
    yield "outcome", receipt.outcome.name
    yield "cause", receipt.cause
    yield "steps", steps_in_short(receipt)
    yield "plane", receipt.plane.ref
    yield "actor", receipt.actor.ref
    yield "trial", str(receipt.trial)
    yield "attempts", str(len(tries))
    yield "quarantine", None if row.quarantine is None else row.quarantine.terms
    if receipt.actor.kind != "live":
        return
    spent = trial_of(receipt, [one.log for one in tries if one.log is not None])
    yield "model", ", ".join(spent.models) or None
    yield "model_calls", str(spent.calls)
    known = spent.unknown_calls < spent.calls
    usd = dollars_of(spent.micro_usd)
    yield "cost_usd", f"{'>= ' if spent.unknown_calls else ''}{usd}" if known else None


def _evidence(row: Episode) -> str:
    receipt = row.receipt
    lines = [line for piece in told(row) for line in evidence(piece)]
    lines += [proves_nothing(1)] if row.stale else []
    lines += [f"to record anew: {line}" for line in to_do([row])]
    lines += [f"not allowed: {change.path}" for change in receipt.boundary.changes if not change.allowed]
    return "\n".join((ending(receipt), *lines))


def _message(row: Episode) -> str:
    """What a build server shows in its list: the code, and what kind of outage it was."""
    code = code_or_ending(row.receipt)
    return code if row.quarantine is None else f"in quarantine until {row.quarantine.expires}: {code}"


def _class(scenario: str) -> str:
    """Build servers fold cases by the dots in their class names."""
    return plain(scenario).replace("/", ".")
