"""When a run of several actors may end: every pair is looked at after each trial of all scenarios that both play.

What is decided hangs on the verdicts of complete trials alone, never on the order in which episodes end. An actor is
played on while one of its pairs is not decided; each pair has its own share of alpha, so that changes no error rate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from harness.qualification.sequential import WAITING, PairLooks
from harness.schema.early import EarlyPair, EarlyStop

__all__ = ["Stopping"]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two actors, the scenarios that both play, and what came of them so far."""

    first: str
    second: str
    scenarios: tuple[str, ...]
    looks: PairLooks


class Stopping:
    """Looks at all pairs of the actors of a plan; ``planned`` is how many trials of a scenario it has at most.

    ``places`` are scenario, actor and trial, from 1, in plan order; ``alpha`` is how often a pair of equal actors may
    be told apart, of all pairs together. Raises ValueError for fewer than two actors, and for two that play no scenario
    in common.
    """

    def __init__(self, places: Iterable[tuple[str, str, int]], alpha: float) -> None:
        self.alpha, self.planned = alpha, 0
        self._verdicts: dict[tuple[str, str, int], str] = {}
        by_actor: dict[str, dict[str, None]] = defaultdict(dict)
        for scenario, actor, trial in places:
            by_actor[actor][scenario] = None
            self.planned = max(self.planned, trial)
        both = list(combinations(by_actor, 2))
        if not both:
            raise ValueError("two or more actors are looked at")
        self._pairs: list[_Pair] = []
        for first, second in both:
            shared = tuple(scenario for scenario in by_actor[first] if scenario in by_actor[second])
            if not shared:
                raise ValueError(f"{first} and {second} play no scenario in common")
            self._pairs.append(_Pair(first, second, shared, PairLooks(self.planned, alpha=alpha / len(both))))

    def over(self, scenario: str, actor: str, trial: int, verdict: str) -> bool:
        """A place is done; whether a pair was decided by that. One that waits for a person is not done."""
        if verdict in WAITING:
            return False
        self._verdicts[scenario, actor, trial] = verdict
        return sum(self._look(pair) for pair in self._pairs if actor in {pair.first, pair.second}) > 0

    def _look(self, pair: _Pair) -> bool:
        """Take all looks that can be taken by now."""
        while pair.looks.found is None and pair.looks.taken < self.planned:
            number = pair.looks.taken + 1
            verdicts = [
                (
                    self._verdicts.get((scenario, pair.first, number)),
                    self._verdicts.get((scenario, pair.second, number)),
                )
                for scenario in pair.scenarios
            ]
            if any(None in both for both in verdicts):
                return False
            if pair.looks.look(verdicts) is not None:
                return True
        return False

    def needs(self, actor: str, trial: int) -> bool:
        """Whether a trial of an actor has still to be played: a pair of it is not decided, or was so later."""
        return any(
            pair.looks.found is None or trial <= pair.looks.taken
            for pair in self._pairs
            if actor in {pair.first, pair.second}
        )

    @property
    def told(self) -> EarlyStop:
        """What was found so far."""
        until: dict[str, int] = {}
        for pair in self._pairs:
            last = self.planned if pair.looks.found is None else pair.looks.taken
            for actor in (pair.first, pair.second):
                until[actor] = max(last, until.get(actor, 0))
        return EarlyStop(
            alpha=self.alpha,
            planned=self.planned,
            pairs=tuple(
                EarlyPair(first=pair.first, second=pair.second, finding=pair.looks.found, after=pair.looks.taken)
                for pair in self._pairs
            ),
            until=until,
        )
