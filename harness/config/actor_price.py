"""``[actors.NAME.price]`` of ``harness.toml``: what a model costs, where its owner knows better than any table."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Final

from pydantic import ValidationError

from harness.config.tables import word
from harness.schema.price import Price

__all__ = ["RATES", "read_price"]

RATES: Final = ("input", "output", "cache_read", "cache_write")
_NEEDED: Final = ("input", "output")
_ALLOWED: Final = "US dollars for a million tokens, a number or a text like 0.15, from 0 to 1000000"
SOURCE: Final = "harness.toml"


def read_price(table: object) -> Price | str:
    """The price, or what is wrong and what is allowed, as the rest of a line; values are never shown."""
    if not isinstance(table, Mapping):
        return f"must be a table; allowed keys: {', '.join(RATES)}"
    unknown = [key for key in table if key not in RATES]
    if unknown:
        return f"{word(unknown[0], 'a key')} is unknown; allowed keys: {', '.join(RATES)}"
    rates = {key: _decimal(value) for key, value in table.items()}
    wrong = [key for key, rate in rates.items() if rate is None]
    missing = [key for key in _NEEDED if key not in rates]
    if wrong or missing:
        return f"{(wrong or missing)[0]}: {'cannot be used' if wrong else 'is missing'}; allowed: {_ALLOWED}"
    try:
        return Price.model_validate({**rates, "source": SOURCE})
    except ValidationError as error:
        return f"{error.errors()[0]['loc'][0]}: cannot be used; allowed: {_ALLOWED}"


def _decimal(value: object) -> Decimal | None:
    """The number as it is written: a float's shortest text is what stands in the file."""
    if not isinstance(value, int | float | str):
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None
