"""The intervals are those of the textbooks, to six digits."""

from __future__ import annotations

import pytest

from harness.qualification import clopper_pearson, wilson
from harness.qualification.intervals import ends
from harness.schema.qualification import Interval

#: passes, trials, Wilson, Clopper-Pearson: as SciPy and statsmodels give them.
REFERENCE = [
    (0, 10, (0, 0.277533), (0, 0.308497)),
    (1, 10, (0.017876, 0.404150), (0.002529, 0.445016)),
    (5, 10, (0.236593, 0.763407), (0.187086, 0.812914)),
    (8, 10, (0.490162, 0.943318), (0.443905, 0.974789)),
    (10, 10, (0.722467, 1), (0.691503, 1)),
    (19, 20, (0.763869, 0.991119), (0.751267, 0.998735)),
    (20, 20, (0.838875, 1), (0.831567, 1)),
    (45, 50, (0.786398, 0.956524), (0.781865, 0.966725)),
    (97, 100, (0.915481, 0.989745), (0.914824, 0.993770)),
    (84, 200, (0.353736, 0.489279), (0.350744, 0.491664)),
]
#: Trials that all passed, and the one-sided lower bound at 95 of 100.
ALL_PASSED = [
    (5, 0.549280),
    (10, 0.741134),
    (20, 0.860892),
    (30, 0.904966),
    (59, 0.950492),
    (100, 0.970487),
    (299, 0.990031),
]


@pytest.mark.parametrize(("passes", "n", "score", "exact"), REFERENCE)
def test_both_intervals_have_their_reference_values(
    passes: int, n: int, score: tuple[float, float], exact: tuple[float, float]
) -> None:
    for found, wanted in ((wilson(passes, n), score), (clopper_pearson(passes, n), exact)):
        assert (found.low, found.high) == pytest.approx(wanted, abs=5.1e-7)


@pytest.mark.parametrize(("n", "low"), ALL_PASSED)
def test_a_row_of_passes_has_its_one_sided_lower_bound(n: int, low: float) -> None:
    assert clopper_pearson(n, n, confidence=0.9).low == pytest.approx(low, abs=5.1e-7)


@pytest.mark.parametrize(("passes", "n"), [(-1, 2), (3, 2), (0, 0)])
def test_what_is_no_rate_is_refused(passes: int, n: int) -> None:
    for interval in (wilson, clopper_pearson):
        with pytest.raises(ValueError, match="there is no such rate"):
            interval(passes, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0, float("nan")])
def test_certainty_is_no_confidence(confidence: float) -> None:
    for interval in (wilson, clopper_pearson):
        with pytest.raises(ValueError, match="must lie between 0 and 1"):
            interval(1, 2, confidence=confidence)


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (0.0, 0.0, (0, 0)),
        (0.0, 1e-12, (0, 1)),
        (1 - 1e-12, 1.0, (99, 100)),
        (1.0, 1.0, (100, 100)),
        (0.29, 0.58, (29, 58)),
        (0.291, 0.571, (29, 58)),
    ],
)
def test_whole_hundredths_hold_the_interval_and_tell_no_end_that_is_not_there(
    low: float, high: float, told: tuple[int, int]
) -> None:
    assert ends(Interval(low=low, high=high)) == told
