"""What a model costs, in US dollars for a million tokens."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from harness.schema.base import Frozen

__all__ = ["Price", "Rate", "Rates"]

#: US dollars for a million tokens.
Rate = Annotated[Decimal, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Rates(Frozen):
    """Rates of one request. A cache rate that is None is that of other input."""

    input: Rate
    output: Rate
    cache_read: Rate | None = None
    cache_write: Rate | None = None


class Price(Rates):
    """A model's price. ``above`` are other rates for requests of more input tokens, the smallest number first.

    ``source`` tells where it is from, its date included where the source has one.
    """

    above: tuple[tuple[int, Rates], ...] = ()
    source: str
