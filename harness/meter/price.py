"""Tokens to money, in exact decimal arithmetic; a rate of dollars for a million tokens is a millionth for each."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from harness.errors import ProviderCategory
from harness.schema.limits import COUNT_MAX
from harness.schema.message import Usage
from harness.schema.price import Price, Rates

__all__ = ["UNBILLED", "cost", "is_inconsistent", "most"]

#: A provider that answers so turned the request away before any model worked on it: nobody is billed. Not among them:
#: busy and broken servers (5xx, 529), of which nobody knows how far they came, and a filter, which may be billed.
UNBILLED: Final[frozenset[ProviderCategory]] = frozenset(
    ("rate_limited", "quota_exhausted", "auth", "invalid_request", "model_not_found")
)


def is_inconsistent(usage: Usage | None) -> bool:
    """Whether the parts are more than their whole: more read from and written to a cache than there was input."""
    if usage is None:
        return False
    whole, cached = usage.input_tokens, (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    if whole is not None and cached > whole:
        return True
    said, reasoning = usage.output_tokens, usage.reasoning_tokens or 0
    return said is not None and reasoning > said


def cost(usage: Usage | None, price: Price | None) -> Decimal | None:
    """What one attempt cost, in millionths of a US dollar; None where that cannot be known, and never negative.

    A provider that tells what it read from a cache and nothing of writes has written nothing that it bills apart.
    One that tells neither may have read any part of the input from there. A count beyond ``COUNT_MAX`` is not known.
    """
    if usage is None or price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    if is_inconsistent(usage) or any(count is not None and count > COUNT_MAX for count in _billed(usage)):
        return None
    rates = _rates(price, usage.input_tokens)
    read_rate = rates.input if rates.cache_read is None else rates.cache_read
    write_rate = rates.input if rates.cache_write is None else rates.cache_write
    if usage.cache_read_tokens is None and read_rate != rates.input and usage.input_tokens:
        return None
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    fresh = usage.input_tokens - read - written
    return fresh * rates.input + read * read_rate + written * write_rate + usage.output_tokens * rates.output


def _billed(usage: Usage) -> tuple[int | None, ...]:
    return usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens


def most(price: Price, *, input_tokens: int, output_tokens: int) -> Decimal:
    """The highest that an attempt of at most so many tokens can cost, in millionths of a US dollar."""
    within = [price, *(rates for over, rates in price.above if input_tokens > over)]
    rates = [rate for one in within for rate in (one.input, one.cache_read, one.cache_write) if rate is not None]
    return input_tokens * max(rates) + output_tokens * max(one.output for one in within)


def _rates(price: Price, input_tokens: int) -> Rates:
    above = [rates for over, rates in price.above if input_tokens > over]
    return above[-1] if above else price
