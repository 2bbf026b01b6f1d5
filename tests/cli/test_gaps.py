"""How far apart two rates are, in words: none and all only where it is that."""

from __future__ import annotations

import pytest

from harness.cli.gaps_told import gap
from harness.schema.qualification import Difference


@pytest.mark.parametrize(
    ("effect", "told"),
    [
        (0.0, "no point apart"),
        (0.004, "less than 1 point more"),
        (-0.004, "less than 1 point fewer"),
        (0.01, "1 point more"),
        (-0.13, "13 points fewer"),
        (0.9999, "more than 99 points more"),
        (-1.0, "100 points fewer"),
    ],
)
def test_a_gap_is_nothing_or_everything_only_where_it_is_that(effect: float, told: str) -> None:
    assert gap(Difference(effect=effect, low=-1.0, high=1.0, scenarios=1)).startswith(f"{told} (between ")
