"""Earlier runs, as far as the index tells them: what counts of each scenario and actor."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from harness.schema.history import IndexedEpisode, IndexedRun
from harness.schema.money import MICRO
from harness.schema.verdict import JUDGED

__all__ = ["Cell", "Place", "cell_of", "places", "whole_runs"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where trials belong together: ``plane`` is a name with its version, or empty where that may be any."""

    scenario: str
    actor: str
    plane: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """Episodes that are told together: ``last`` are the attempts that count, ``attempts`` are all of them."""

    last: tuple[IndexedEpisode, ...]
    attempts: tuple[IndexedEpisode, ...]

    @property
    def passes(self) -> int:
        """Of ``n``."""
        return sum(one.verdict == "pass" for one in self.last)

    @property
    def n(self) -> int:
        """Judged trials."""
        return sum(one.verdict in JUDGED for one in self.last)

    @property
    def left_out(self) -> Counter[str]:
        """Trials that were not judged by their cause; ``pending`` is one."""
        rows = [one for one in self.last if one.verdict not in JUDGED]
        return Counter("pending" if one.verdict == "pending" else one.cause or "unknown" for one in rows)

    @property
    def codes(self) -> Counter[str]:
        """Codes of failures."""
        return Counter(one.code or "unknown" for one in self.last if one.verdict == "fail")

    @property
    def seconds(self) -> list[float]:
        """Of judged episodes."""
        return [one.seconds for one in self.last if one.verdict in JUDGED]

    @property
    def usd(self) -> Decimal | None:
        """What all attempts cost; None where that is not known of a single call, or there was none."""
        calls = sum(one.calls for one in self.attempts)
        if calls == self.unknown_calls:
            return None
        return sum((one.micro_usd for one in self.attempts), Decimal(0)) / MICRO

    @property
    def unknown_calls(self) -> int:
        """Calls of which nobody knows the cost."""
        return sum(one.unknown_calls for one in self.attempts)

    @property
    def models(self) -> tuple[str, ...]:
        """Names that providers gave, sorted."""
        return tuple(sorted({name for one in self.last for name in one.models}))

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """Of what answered, sorted."""
        return tuple(sorted({name for one in self.last for name in one.fingerprints}))

    @property
    def planes(self) -> tuple[str, ...]:
        """Names of control planes with their versions, sorted."""
        return tuple(sorted({f"{one.plane.name}=={one.plane.version}" for one in self.last}))


def cell_of(episodes: Iterable[IndexedEpisode]) -> Cell:
    """With each episode's last attempt found."""
    attempts = tuple(episodes)
    last: dict[tuple[object, ...], IndexedEpisode] = {}
    for one in attempts:
        key = (one.scenario, one.scenario_digest, one.actor, one.actor_digest, one.plane, one.trial)
        if key not in last or one.attempt >= last[key].attempt:
            last[key] = one
    return Cell(last=tuple(last.values()), attempts=attempts)


def places(run: IndexedRun) -> dict[Place, Cell]:
    """What was played in a run, in its order, versions of a control plane apart."""
    found: dict[Place, list[IndexedEpisode]] = defaultdict(list)
    for one in run.episodes:
        found[Place(one.scenario, one.actor, one.plane.ref)].append(one)
    return {place: cell_of(episodes) for place, episodes in found.items()}


def whole_runs(runs: Sequence[IndexedRun]) -> Iterator[IndexedRun]:
    """Those whose whole plan was played, from the oldest on.

    A run that ended early is none of them: where it ends when a difference shows, that difference is larger than it is.
    """
    yield from sorted((run for run in runs if run.is_whole), key=lambda run: (run.created_at, run.folder))
