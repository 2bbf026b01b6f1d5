"""Tokens to money: exact, told apart by rate, and unknown rather than wrong."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

from genai_prices.types import ModelPrice
from genai_prices.types import Usage as TheirUsage
from hypothesis import given
from hypothesis import strategies as st

from harness import meter
from harness.schema.message import Usage
from harness.schema.price import Price, Rates

PRICE = Price(input=Decimal(1), output=Decimal(5), cache_read=Decimal("0.1"), source="test")
TIERED = Price(
    input=Decimal(1),
    output=Decimal(2),
    above=((100, Rates(input=Decimal(3), output=Decimal(4))), (200, Rates(input=Decimal(5), output=Decimal(6)))),
    source="test",
)


def usage(into: int | None, out: int | None, read: int | None = 0, written: int | None = None) -> Usage:
    return Usage(input_tokens=into, output_tokens=out, cache_read_tokens=read, cache_write_tokens=written)


@given(
    into=st.integers(0, 10**6),
    read=st.integers(0, 10**6),
    written=st.integers(0, 10**6),
    out=st.integers(0, 10**6),
    rates=st.lists(st.decimals(0, 100, places=3), min_size=4, max_size=4),
)
def test_a_cost_is_what_the_library_of_the_price_table_makes_of_it(
    into: int, read: int, written: int, out: int, rates: list[Decimal]
) -> None:
    price = Price(input=rates[0], output=rates[1], cache_read=rates[2], cache_write=rates[3], source="test")
    theirs = ModelPrice(
        input_mtok=rates[0], output_mtok=rates[1], cache_read_mtok=rates[2], cache_write_mtok=rates[3]
    ).calc_price(
        TheirUsage(
            input_tokens=into + read + written, output_tokens=out, cache_read_tokens=read, cache_write_tokens=written
        )
    )
    assert meter.cost(usage(into + read + written, out, read, written), price) == theirs["total_price"] * 1_000_000


def test_what_is_missing_makes_a_cost_unknown_and_never_cheap() -> None:
    assert meter.cost(usage(10, None), PRICE) is None
    assert meter.cost(usage(None, 1), PRICE) is None
    assert meter.cost(None, PRICE) is None
    assert meter.cost(usage(10, 1), None) is None


def test_a_cache_that_is_not_told_of_matters_only_where_it_has_a_rate_of_its_own() -> None:
    assert meter.cost(usage(10, 1, None), PRICE) is None
    flat = PRICE.model_copy(update={"cache_read": None})
    assert meter.cost(usage(10, 1, None), flat) == 15
    assert meter.cost(usage(10, 1, 5, None), PRICE) == Decimal("10.5")


def test_more_reasoning_than_output_is_inconsistent() -> None:
    odd = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=0, reasoning_tokens=3)
    assert meter.is_inconsistent(odd)
    assert meter.cost(odd, PRICE) is None


def test_a_request_above_a_number_of_tokens_is_paid_whole_at_the_higher_rates() -> None:
    costs = [meter.cost(usage(into, 10), TIERED) for into in (100, 101, 200, 201)]
    assert costs == [120, 343, 640, 1065]
    mosts = [meter.most(TIERED, input_tokens=into, output_tokens=10) for into in (0, 100, 101, 200, 201)]
    assert mosts == [20, 120, 343, 640, 1065]
    assert all(low <= high for low, high in pairwise(mosts))
