"""Looking more than once while trials come in, without taking chance for a difference more often than was said.

A group-sequential test whose null distribution is the permutation's: trials that came between two looks are strata of
their own, so what each look adds is independent of what was there, given its passes. The share of alpha that may be
spent by a look follows O'Brien and Fleming as Lan and DeMets (1983) spend it, 2 (1 - Phi(z_{alpha/2} / sqrt(t))) at the
share t of all planned trials: little at first. The bounds follow from the exact distribution of all sums that no
earlier look ended with, so alpha holds whatever the rates are, however many trials were not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from harness.qualification.permutation import Stratum, null_distribution
from harness.schema.comparison import SequentialCourse
from harness.schema.early import Finding
from harness.schema.qualification import Trial
from harness.schema.verdict import JUDGED

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["WAITING", "Looks", "PairLooks", "course", "spent"]

#: What no look counts yet: it is to be played, or waits for a person.
WAITING: Final = frozenset({"not_played", "pending"})


def spent(share: float, alpha: float) -> float:
    """How much of ``alpha`` may be spent by the look at this share of all planned trials, each in (0, 1]."""
    if not 0 < share <= 1 or not 0 < alpha < 1:
        raise ValueError("a share lies in (0, 1], alpha in (0, 1)")
    normal = NormalDist()
    return min(alpha, 2 * (1 - normal.cdf(normal.inv_cdf(1 - alpha / 2) / sqrt(share))))


class Looks:
    """Looks at one pair of models, one stage after the other; ``alpha`` is two-sided, half of it for each side.

    ``planned`` is the number of stages when nothing ends it, from 1. ``found`` is ``worse`` or ``better`` where the
    last look told that the second model differs, and then no other follows.
    """

    def __init__(self, planned: int, *, alpha: float) -> None:
        if planned < 1:
            raise ValueError(f"{planned} planned looks: at least one is planned")
        self.planned, self.alpha, self.taken = planned, alpha, 0
        self.found: Finding | None = None
        self._inside: NDArray[float64] | None = None  # chances of each sum that no look has ended with
        self._at, self._gone = 0, (0.0, 0.0)

    def look(self, stage: Sequence[Stratum]) -> None:
        """Look once more: ``stage`` is what came since the look before, a stratum a scenario.

        Raises ValueError where none is planned any more, or one has ended it.
        """
        from numpy import convolve, ones, zeros  # noqa: PLC0415  (only whoever compares waits for it)

        if self.taken == self.planned or self.found is not None:
            raise ValueError(f"{self.taken + 1} looks of {self.planned} planned ones, or one after the end")
        self.taken += 1
        telling = [stratum for stratum in stage if stratum.tells]
        before = ones(1) if self._inside is None else self._inside
        inside = convolve(before, null_distribution(telling))
        self._at += sum(stratum.second_passes - stratum.fewest for stratum in telling)
        allowed = spent(self.taken / self.planned, self.alpha) / 2
        low = int((self._gone[0] + inside.cumsum() <= allowed).sum())
        high = int((self._gone[1] + inside[::-1].cumsum() <= allowed).sum())
        if self._at < low or self._at >= len(inside) - high:
            self.found = "worse" if self._at < low else "better"
        below, above = float(inside[:low].sum()), float(inside[len(inside) - high :].sum())
        self._gone = (self._gone[0] + below, self._gone[1] + above)
        self._inside = zeros(len(inside))
        self._inside[low : len(inside) - high] = inside[low : len(inside) - high]


class PairLooks:
    """Looks at two models that are decided only where trials that were not judged could not turn it.

    Each round is looked at without them, and with them as failures; both must have found the same.
    """

    def __init__(self, planned: int, *, alpha: float) -> None:
        self._sides = (Looks(planned, alpha=alpha), Looks(planned, alpha=alpha))
        self.taken = 0

    @property
    def found(self) -> Finding | None:
        """What was found so far."""
        without, with_failures = (side.found for side in self._sides)
        return without if without == with_failures else None

    def look(self, verdicts: Sequence[tuple[str | None, str | None]]) -> Finding | None:
        """Look at one more trial of all scenarios: the verdicts of both, None where one does not play it."""
        self.taken += 1
        for side, as_failures in zip(self._sides, (False, True), strict=True):
            if side.found is None:
                side.look([_stratum(first, second, as_failures=as_failures) for first, second in verdicts])
        return self.found


def course(
    first: Sequence[Trial], second: Sequence[Trial], *, alpha: float, planned: int | None = None
) -> SequentialCourse | None:
    """What looking after each trial of all scenarios that both play had come to; None where they share none.

    The number of looks is that of trials that were ``planned`` for both (None: as many as there are). A look waits for
    all places of its trial: what came to a look afterwards would be looked at twice.
    """
    shared = {trial.scenario for trial in first} & {trial.scenario for trial in second}
    if not shared:
        return None
    sides = [
        {(one.scenario, one.number): one.verdict for one in side if one.scenario in shared} for side in (first, second)
    ]
    there = min(max(number for _, number in side) for side in sides)
    planned = there if planned is None else planned
    waiting = {number for side in sides for (_, number), verdict in side.items() if verdict in WAITING}
    pair = PairLooks(planned, alpha=alpha)
    for number in range(1, min(waiting, default=min(there, planned) + 1)):
        pair.look([(sides[0].get((name, number)), sides[1].get((name, number))) for name in sorted(shared)])
        if pair.found is not None:
            break
    # of a run that ended for it they were not played
    spared = 2 * len(shared) * (planned - pair.taken) if pair.found is not None else 0
    return SequentialCourse(finding=pair.found, after=pair.taken, planned=planned, saved=spared)


def _stratum(first: str | None, second: str | None, *, as_failures: bool) -> Stratum:
    (one, n), (other, m) = (
        (int(verdict == "pass"), int(verdict is not None if as_failures else verdict in JUDGED))
        for verdict in (first, second)
    )
    return Stratum(one, n, other, m)
