"""Costs, as they went wrong elsewhere; each test is named by its case."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from harness import meter
from harness.ports import WireResponse
from harness.providers.openai import build
from harness.schema.message import Usage
from harness.schema.price import Price

PRICE = Price(
    input=Decimal("1.00"),
    cache_read=Decimal("0.10"),
    cache_write=Decimal("1.25"),
    output=Decimal("5.00"),
    source="f004",
)
CACHE_BESIDE: dict[str, JsonValue] = {
    "input_tokens": 9,
    "cache_read_input_tokens": 17102,
    "cache_creation_input_tokens": 0,
    "output_tokens": 100,
}
CACHE_INSIDE: dict[str, JsonValue] = {
    "prompt_tokens": 17111,
    "prompt_tokens_details": {"cached_tokens": 17102},
    "completion_tokens": 100,
}
MORE_CACHED_THAN_ASKED: dict[str, JsonValue] = {
    "prompt_tokens": 10,
    "prompt_tokens_details": {"cached_tokens": 12},
    "completion_tokens": 0,
}


def decoded(usage: dict[str, JsonValue] | None) -> Usage | None:
    """What a chat completion with this usage is read as."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}
    body = json.dumps({"id": "x", "model": "m", "choices": [choice], "usage": usage}).encode()
    return build().decode_reply(WireResponse(200, {"content-type": "application/json"}, body)).usage


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [(CACHE_BESIDE, "0.0022192"), (CACHE_INSIDE, "0.0022192"), (None, None), (MORE_CACHED_THAN_ASKED, None)],
    ids=["cache beside the input", "cache inside the input", "no usage", "inconsistent"],
)
def test_f004_what_came_from_a_cache_is_counted_once_and_exactly(
    usage: dict[str, JsonValue] | None, dollars: str | None
) -> None:
    cost = meter.cost(decoded(usage), PRICE)
    assert cost == (None if dollars is None else Decimal(dollars) * 1_000_000)


def test_f004_parts_that_are_more_than_their_whole_are_told_as_such() -> None:
    assert meter.is_inconsistent(decoded(MORE_CACHED_THAN_ASKED))
    assert not any(meter.is_inconsistent(decoded(usage)) for usage in (CACHE_BESIDE, CACHE_INSIDE, None))


counts = st.one_of(st.none(), st.integers(0, 10**7))
rates = st.decimals(0, 1000, places=4)


@given(
    usage=st.builds(Usage, **dict.fromkeys(Usage.model_fields, counts)),
    price=st.builds(
        Price,
        input=rates,
        output=rates,
        cache_read=st.none() | rates,
        cache_write=st.none() | rates,
        source=st.just("x"),
    ),
)
def test_f004_a_cost_is_never_negative_and_never_above_the_most(usage: Usage, price: Price) -> None:
    cost = meter.cost(usage, price)
    if cost is None:
        return
    assert usage.input_tokens is not None
    assert usage.output_tokens is not None
    assert 0 <= cost <= meter.most(price, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
