"""Whether two models differ: their labels exchanged within each scenario, in all ways at once.

Of each scenario the passes of both models together and the trials of each are taken as given. Were the labels without
meaning, every way to hand them out would be as likely, so the passes of the second model in a scenario would follow the
hypergeometric distribution, and their sum over scenarios that of a sum of such numbers: computed, not drawn. With one
trial of each model this is McNemar's exact test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

__all__ = ["Alternative", "Stratum", "null_distribution", "permutation_test"]

#: What is looked for: that the second model passes less often, more often, or either.
Alternative = Literal["less", "greater", "two-sided"]


@dataclass(frozen=True, slots=True)
class Stratum:
    """Judged trials of both models in one scenario, each with 0 <= passes <= n; the second is asked about."""

    first_passes: int
    first_n: int
    second_passes: int
    second_n: int

    def __post_init__(self) -> None:
        for passes, n in ((self.first_passes, self.first_n), (self.second_passes, self.second_n)):
            if not 0 <= passes <= n:
                raise ValueError(f"{passes} passes of {n} trials: there is no such rate")

    @property
    def passes(self) -> int:
        """Of both models."""
        return self.first_passes + self.second_passes

    @property
    def fewest(self) -> int:
        """Passes that the second model has at least, however labels are handed out."""
        return max(0, self.passes - self.first_n)

    @property
    def tells(self) -> bool:
        """Whether exchanging labels can change anything."""
        return self.first_n > 0 and self.second_n > 0 and 0 < self.passes < self.first_n + self.second_n


def permutation_test(strata: Sequence[Stratum], alternative: Alternative = "two-sided") -> float:
    """How likely at most, without a difference, are passes of the second model as far off as these: in (0, 1].

    Two-sided is twice the smaller of both sides. 1.0 where exchanging labels changes nothing.
    """
    telling = [stratum for stratum in strata if stratum.tells]
    chances = null_distribution(telling)
    at = sum(stratum.second_passes - stratum.fewest for stratum in telling)
    # sums from the near end are exact where the far one would lose the small numbers
    less, greater = float(chances[: at + 1].sum()), float(chances[at:].sum())
    found = {"less": less, "greater": greater, "two-sided": 2 * min(less, greater)}[alternative]
    return min(1.0, found)


def null_distribution(strata: Sequence[Stratum]) -> NDArray[float64]:
    """Chances of each sum of passes of the second model, from the fewest that are possible on, without a difference."""
    from numpy import array, convolve, ones  # noqa: PLC0415  (a tenth of a second, and only whoever compares waits)

    whole = ones(1)
    for stratum in strata:
        whole = convolve(whole, array(_chances(stratum)))
    return whole


def _chances(stratum: Stratum) -> list[float]:
    """Hypergeometric, from the fewest passes on; each is a ratio of whole numbers, rounded once."""
    ways = comb(stratum.first_n + stratum.second_n, stratum.passes)
    most = min(stratum.second_n, stratum.passes)
    return [
        comb(stratum.second_n, passes) * comb(stratum.first_n, stratum.passes - passes) / ways
        for passes in range(stratum.fewest, most + 1)
    ]
