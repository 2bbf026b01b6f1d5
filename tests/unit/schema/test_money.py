from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.schema.money import MICRO, dollars_of, told_usd

AMOUNTS = st.decimals(min_value=0, max_value=10**12, allow_nan=False, places=9)


def read(told: str) -> Decimal:
    return Decimal(told.removeprefix(">= ").removeprefix("$").replace(",", ""))


@pytest.mark.parametrize(
    ("usd", "told"),
    [
        ("0", "$0"),
        ("0.00000035", "$0.00000035"),
        ("0.002279", "$0.00227"),
        ("0.03", "$0.03"),
        ("0.9999", "$0.999"),
        ("1", "$1.00"),
        ("2.209", "$2.20"),
        ("1234567.899", "$1,234,567.89"),
    ],
)
def test_cents_from_a_dollar_on_and_three_digits_below_it(usd: str, told: str) -> None:
    assert told_usd(Decimal(usd)) == told
    assert told_usd(float(usd)) == told
    assert told_usd(Decimal(usd), at_least=True) == f">= {told}"


@given(AMOUNTS)
def test_what_was_spent_is_told_as_no_more_than_it_is_and_a_bound_as_no_less(usd: Decimal) -> None:
    low, high = read(told_usd(usd)), read(told_usd(usd, at_most=True))
    assert low <= usd <= high
    assert high - low <= max(Decimal("0.01"), usd / 100) if usd >= 1 else high - low <= usd / 100
    assert (low == 0) == (usd == 0)


def test_nearly_a_dollar_rounded_up_is_one() -> None:
    assert told_usd(Decimal("0.9999"), at_most=True) == "$1.00"


@given(AMOUNTS)
def test_machines_read_dollars_to_the_millionth_rounded_down(usd: Decimal) -> None:
    told = dollars_of(usd * MICRO)
    assert told <= usd < told + Decimal("0.000001")
    assert told.as_tuple().exponent == -6
