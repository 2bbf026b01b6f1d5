"""What every report tells of a run: its episodes, how many of each verdict, and which places of the plan are empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from harness.qualification.not_needed import spared
from harness.receipt import last_attempts
from harness.schema.actor import Provenance
from harness.schema.quarantine import QuarantineEntry
from harness.schema.receipt import Receipt
from harness.schema.remembering import remembered
from harness.schema.run import PlannedEpisode, RunLogEntry, RunView
from harness.schema.transcript import Transcript
from harness.schema.verdict import Verdict

__all__ = [
    "STALE",
    "TRIED_AGAIN",
    "VERDICT_WORDS",
    "Alike",
    "Episode",
    "alike",
    "by_trial",
    "counts",
    "episodes",
    "headline",
    "in_trials",
    "kinds_in_runs",
    "not_run",
    "plain",
    "planned_trial",
    "planned_who",
    "stale_count",
    "state",
    "steps_in_short",
]

#: Verdicts as people read them.
VERDICT_WORDS: dict[Verdict, str] = {
    "pass": "passed",
    "fail": "failed",
    "not_judged": "not judged",
    "pending": "pending",
}
#: Instead of a verdict, for an episode whose recording no longer fits.
STALE = "stale"
#: Instead of a verdict, for an attempt that another one followed: it counts no more.
TRIED_AGAIN = "tried again"


@dataclass(frozen=True, slots=True)
class Episode:
    """A receipt with its run log and what was recorded; ``number`` counts from 1 in plan order.

    ``provenance`` says where a recording that was played comes from. ``followed``: another attempt at the same episode
    came after it, and counts instead. ``plane`` is the control plane with its version where the run has several
    versions of it, else empty. ``quarantine`` is the entry by which it is not held against the run. ``repeated``: it
    is one of several trials.
    """

    number: int
    receipt: Receipt
    log: RunLogEntry | None
    transcript: Transcript | None = None
    provenance: Provenance | None = None
    followed: bool = False
    plane: str = ""
    quarantine: QuarantineEntry | None = None
    repeated: bool = False

    @property
    def actor(self) -> str:
        """Who played, and which time: the trial is named where there are several, the attempt where it is another."""
        attempt = "" if self.receipt.attempt == 1 else f", attempt {self.receipt.attempt}"
        return f"{self.played}{attempt}"

    @property
    def played(self) -> str:
        """Who played, and in which trial, whichever attempt it was."""
        return f"{self.who}, trial {self.receipt.trial}" if self.repeated else self.who

    @property
    def who(self) -> str:
        """The actor, and what it played on where that has to be said."""
        return f"{self.receipt.actor.ref}, {self.plane}" if self.plane else self.receipt.actor.ref

    @property
    def stale(self) -> bool:
        """Whether it was played from a recording that no longer fits."""
        return _is_stale(self.receipt)

    @property
    def word(self) -> str:
        """The verdict as people read it."""
        if self.followed:
            return TRIED_AGAIN
        return STALE if self.stale else VERDICT_WORDS[self.receipt.verdict]

    @property
    def player(self) -> str:
        """The actor, of a recorded one whether that was a real model, and whether it is in quarantine."""
        return f"{self.actor}{self.marks}"

    @property
    def marks(self) -> str:
        """What stands behind the actor: where a recording comes from, and that it is in quarantine."""
        origin = "" if self.provenance is None else f", {self.provenance}"
        return origin if self.quarantine is None else f"{origin}, in quarantine"

    @property
    def seconds(self) -> float:
        """Wall-clock time of the episode, 0 where the log does not tell."""
        return self.log.seconds if self.log is not None else 0.0


@remembered(1)
def episodes(view: RunView) -> tuple[Episode, ...]:
    """All receipts in plan order, each joined to its log by key, and to what was recorded."""
    logs = {entry.key: entry for entry in view.log}
    origins = {
        (one.scenario, one.actor, one.plane, one.trial): one.provenance
        for one in view.manifest.plan
        if one.provenance is not None
    }
    count = set(map(id, last_attempts(view.receipts)))
    several, aside, repeated = view.manifest.in_versions, view.manifest.set_aside, in_trials(view)
    return tuple(
        Episode(
            number,
            receipt,
            logs.get(receipt.key),
            view.transcripts.get(number),
            origins.get(_place(receipt)) if origins else None,
            followed=id(receipt) not in count,
            plane=receipt.plane.ref if receipt.plane.name in several else "",
            quarantine=aside.get((receipt.scenario, receipt.actor.ref)),
            repeated=receipt.trial > 1 or (receipt.scenario, receipt.actor.ref, receipt.plane.ref) in repeated,
        )
        for number, receipt in enumerate(view.receipts, start=1)
    )


def in_trials(view: RunView) -> frozenset[tuple[str, str, str]]:
    """Scenario, actor and control plane of which its plan, or the one that it is a shard of, has a second trial."""
    shard = view.manifest.shard
    plan = view.manifest.plan if shard is None else shard.plan
    return frozenset((place.scenario, place.actor, place.plane) for place in plan if place.trial > 1)


def by_trial(rows: tuple[Episode, ...]) -> tuple[tuple[Episode, ...], ...]:
    """All attempts at each episode together, the one that counts last; as many as there are trials, in plan order."""
    found: dict[str, list[Episode]] = {}
    for row in rows:
        found.setdefault(row.receipt.episode, []).append(row)
    return tuple(tuple(sorted(some, key=lambda row: row.receipt.attempt)) for some in found.values())


@dataclass(frozen=True, slots=True)
class Alike:
    """Trials of one scenario and actor that did not pass and ended alike: ``count`` of ``trials``, and the first."""

    first: Episode
    count: int
    trials: int

    @property
    def times(self) -> str:
        """`` in 3 of 10 trials``; empty where there was one."""
        return f" in {self.count} of {self.trials} trials" if self.trials > 1 else ""


def alike(rows: Iterable[Episode]) -> tuple[Alike, ...]:
    """What did not pass, in the order of the first of each; of several attempts the last one counts."""
    found: dict[tuple[str, str, str | None, str], list[Episode]] = {}
    trials: Counter[tuple[str, str]] = Counter()
    for row in rows:
        receipt = row.receipt
        if not row.followed:
            trials[receipt.scenario, row.who] += 1
            if receipt.verdict != "pass":
                key = (receipt.scenario, row.who, receipt.failure_code, row.word)
                found.setdefault(key, []).append(row)
    return tuple(Alike(some[0], len(some), trials[scenario, who]) for (scenario, who, *_), some in found.items())


def counts(view: RunView) -> dict[Verdict, int]:
    """How many places of the plan have each verdict; of several attempts the last one counts."""
    found = Counter(receipt.verdict for receipt in _last(view))
    return {verdict: found[verdict] for verdict in VERDICT_WORDS}


def stale_count(view: RunView) -> int:
    """How many places of the plan were played from a recording that no longer fits; the last attempt counts."""
    return sum(map(_is_stale, _last(view)))


def _last(view: RunView) -> Iterable[Receipt]:
    """One of each place, that of the last attempt."""
    return {_place(receipt): receipt for receipt in sorted(view.receipts, key=lambda one: one.attempt)}.values()


@remembered(1)
def not_run(view: RunView) -> tuple[PlannedEpisode, ...]:
    """Places of the plan without a receipt, in plan order, but for those that were not needed."""
    there = {_place(receipt) for receipt in view.receipts}
    return tuple(
        place
        for place in view.manifest.plan
        if (place.scenario, place.actor, place.plane, place.trial) not in there and view.manifest.needs(place)
    )


def planned_trial(view: RunView) -> Callable[[PlannedEpisode], str]:
    """Tells who was to play at a place of the plan, and in which trial where there are several."""
    several, repeated = view.manifest.in_versions, in_trials(view)

    def told(place: PlannedEpisode) -> str:
        is_one = place.trial == 1 and (place.scenario, place.actor, place.plane) not in repeated
        return planned_who(place, several) + ("" if is_one else f", trial {place.trial}")

    return told


def planned_who(place: PlannedEpisode, several: frozenset[str]) -> str:
    """Who was to play there, and on what where that is one of ``several`` versions (``Manifest.in_versions``)."""
    return f"{place.actor}, {place.plane}" if place.plane.partition("==")[0] in several else place.actor


@remembered(1)
def headline(view: RunView) -> str:
    """The run in one line: ``4 of 7 passed, 2 failed, 1 not judged``; zeros other than of passes are left out.

    What was played from a recording that no longer fits is told as stale, and not as not judged.
    """
    found, empty, stale = counts(view), len(not_run(view)), stale_count(view)
    total = sum(found.values()) + empty
    less: dict[Verdict, int] = {"not_judged": stale}
    others = [(found[verdict] - less.get(verdict, 0), word) for verdict, word in VERDICT_WORDS.items()]
    besides = ((stale, STALE), (empty, "not run"), (spared(view), "not needed"))
    told = [f"{number:,} {word}" for number, word in (*others[1:], *besides) if number]
    return ", ".join([f"{found['pass']:,} of {total:,} passed", *told]) + _in_quarantine(view)


def _in_quarantine(view: RunView) -> str:
    """How many of those that did not pass are not held against the run."""
    aside = view.manifest.set_aside
    if not aside:
        return ""
    last = [one for one in last_attempts(view.receipts) if (one.scenario, one.actor.ref) in aside]
    number = sum(one.verdict != "pass" for one in last)
    return f" ({number} of them in quarantine)" if number else ""


def state(view: RunView) -> str:
    """How far the run is: the word of its manifest, which a killed run could not change any more."""
    return "killed" if view.killed else view.manifest.state


def kinds_in_runs(receipt: Receipt) -> tuple[tuple[str, bool, int], ...]:
    """Neighbouring steps of one sort: their kind, whether a rule was broken, how many they are."""
    return _in_runs((step.kind or "no kind", step.code is not None) for step in receipt.steps)


def steps_in_short(receipt: Receipt) -> str:
    """The kinds in order, repetitions counted, the step that broke a rule marked: ``clock x2 → quota ✗``."""
    return _in_short(tuple([(step.kind or "no kind", step.code is not None) for step in receipt.steps]))


@lru_cache(4096)
def _in_short(sorts: tuple[tuple[str, bool], ...]) -> str:
    """Of the many episodes of a run few differ in it."""
    runs = [
        f"{kind}{' ✗' if broke else ''}{f' x{times}' if times > 1 else ''}" for kind, broke, times in _in_runs(sorts)
    ]
    return " → ".join(runs) or "no call"


def _in_runs(sorts: Iterable[tuple[str, bool]]) -> tuple[tuple[str, bool, int], ...]:
    return tuple((kind, broke, len(list(group))) for (kind, broke), group in groupby(sorts))


def _is_stale(receipt: Receipt) -> bool:
    return any(finding.check == "drift" for finding in receipt.findings)


def plain(text: str) -> str:
    """A text without characters that act on a terminal, hide, or are not allowed in XML: each becomes ``�``."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _place(receipt: Receipt) -> tuple[str, str, str, int]:
    return (receipt.scenario, receipt.actor.ref, receipt.plane.ref, receipt.trial)
