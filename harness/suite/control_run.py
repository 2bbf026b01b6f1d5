"""Control runs: with the rule off that forbids it, the wrong path must be one that can really be taken."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from harness.schema.check import CheckFinding
from harness.schema.command import CallSpec
from harness.schema.observation import Observation
from harness.schema.rules import KindSpec
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.script import Script
from harness.schema.trace import TraceStep
from harness.suite.playing import Played, with_scenario

__all__ = ["Offer", "came_to", "not_on_offer", "offered_codes", "offers"]


#: The kind of a call of no kind, where it is to be tried all the same.
_TRIED: Final = "control_run"


@dataclass(frozen=True, slots=True)
class Offer:
    """A wrong script, the scenario without the rule that it breaks, and the place of the call that breaks it.

    ``demanded``: its rule forbids the thing itself (``fatal``, ``never``), so it must be on offer. What comes too early
    the control plane may refuse as well, and a call of no kind nobody warns of.
    """

    code: str
    script: Script
    loaded: LoadedScenario
    ordinal: int
    demanded: bool


def offered_codes(scenario: Scenario) -> list[str]:
    """The wrong scripts that end with a call that a rule forbids, as far as the file tells: one control run each.

    What may be done ``once`` is on offer as soon as it was done, and is none of them.
    """
    forbidden = {code for kind in scenario.kind for code in _forbids(kind)} | {scenario.end.unexpected}
    return [code for code in scenario.script.wrong if code in forbidden]


def _forbids(kind: KindSpec) -> tuple[str, ...]:
    return (*_warns_of(kind), *kind.needs.values())


def _warns_of(kind: KindSpec) -> tuple[str, ...]:
    return (*(() if kind.fatal is None else (kind.fatal,)), *kind.never.values())


def offers(loaded: LoadedScenario, wrong: Iterable[Played]) -> Iterator[Offer]:
    """A control run for each wrong script that was stopped by such a rule before its call was run."""
    scenario = loaded.scenario
    for one in wrong:
        steps = one.trace.steps if one.trace is not None else ()
        if one.name not in offered_codes(scenario) or not steps or steps[-1].proposal.code != one.name:
            continue
        last = steps[-1]
        kinds = tuple(_allowed(kind) if kind.name == last.proposal.kind else kind for kind in scenario.kind)
        if last.proposal.kind is None:
            kinds += (KindSpec(name=_TRIED, tool=one.receipt.steps[len(steps) - 1].tool),)
        call = None if scenario.call is None else _with_call(scenario.call, last)
        free = scenario.model_copy(update={"kind": kinds, "call": call})
        world = with_scenario(loaded, free)
        demanded = any(kind.name == last.proposal.kind and one.name in _warns_of(kind) for kind in scenario.kind)
        yield Offer(one.name, scenario.script.wrong[one.name], world, len(steps), demanded=demanded)


def came_to(offer: Offer, played: Played) -> str | None:
    """What became of the call of a control run, in words; None where the control plane, or the read, did it."""
    steps = played.trace.steps if played.trace is not None else ()
    step = steps[offer.ordinal - 1] if len(steps) >= offer.ordinal else None
    seen = None if step is None else step.observation
    return None if seen is not None and seen.ran and seen.ok else _trouble(seen)


def not_on_offer(scenario: Scenario, offer: Offer, came: str | None) -> CheckFinding | None:
    """The finding where the call of a control run came to nothing, and was to."""
    if came is None or not offer.demanded:
        return None
    return CheckFinding(
        scenario=scenario.id,
        what=f"the wrong path is not on offer: with its rule off the call {came}",
        where=f"offer of {offer.code}",
        todo="put into the world what tempts to it, or say in [waiver] why it need not work",
    )


def _trouble(seen: Observation | None) -> str:
    if seen is None:
        return "is never made"
    if not seen.ran:
        return f"is not run ({seen.refused or 'refused'})"
    if seen.error is not None:
        return f"is refused by the control plane ({seen.error.code})"
    return "times out" if seen.timed_out else f"ends with exit code {seen.exit_code}"


def _allowed(kind: KindSpec) -> KindSpec:
    return kind.model_copy(update={"fatal": None, "never": {}, "needs": {}})


def _with_call(spec: CallSpec, step: TraceStep) -> CallSpec:
    """The allow-list with the very call that is to be tried, if it is one of the control plane's program."""
    try:
        words = shlex.split(step.command or "")
    except ValueError:
        return spec
    start = next((at + 1 for at, word in enumerate(words) if word.rpartition("/")[2] == spec.program), len(words))
    path: list[str] = []
    options: list[str] = []
    flags: list[str] = []
    rest = list(reversed(words[start:]))
    while rest:
        word = rest.pop()
        if not word.startswith("--"):
            path.append(word)
            continue
        name, equals, _ = word.removeprefix("--").partition("=")
        options.append(name)
        if equals or name in spec.flags:
            continue
        if not rest or rest[-1].startswith("--"):
            flags.append(name)
        else:
            rest.pop()
    if not path:
        return spec
    called = " ".join(path)
    allowed = dict.fromkeys((*spec.allow.get(called, ()), *options))
    return spec.model_copy(update={"allow": {**spec.allow, called: tuple(allowed)}, "flags": (*spec.flags, *flags)})
