"""Prices of models by their address, out of a table that is part of the installation; no network."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

from harness.schema.price import Price, Rates

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice, TieredPrices

__all__ = ["table_price"]

_FIELDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}


def table_price(model: str, address: str, moment: datetime) -> Price | None:
    """The price of a model at a provider's own address, as it is at ``moment``; None where the table has none.

    An address that is nobody's in the table has no price: whoever answers there may charge anything, or nothing.
    """
    if not address.startswith("https://"):
        return None
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415  (a large table, for live models only)

    try:
        _, found = get_snapshot().find_provider_model(model, None, None, address)
    except LookupError:
        return None
    prices = found.get_prices(moment)
    rates = _rates(prices, 0)
    if rates is None:
        return None
    above = tuple((start, higher) for start in _starts(prices) if (higher := _rates(prices, start + 1)) is not None)
    return Price(**dict(rates), above=above, source=_source(moment.date()))


def _rates(prices: ModelPrice, input_tokens: int) -> Rates | None:
    """The rates of a request with so much input; None for a model that is not paid by its tokens."""
    found = {name: _rate(getattr(prices, field), input_tokens) for name, field in _FIELDS.items()}
    if found["input"] is None or found["output"] is None:
        return None
    return Rates.model_validate(found)


def _rate(price: Decimal | TieredPrices | None, input_tokens: int) -> Decimal | None:
    if price is None or isinstance(price, Decimal):
        return price
    return next((tier.price for tier in reversed(price.tiers) if input_tokens > tier.start), price.base)


def _starts(prices: ModelPrice) -> list[int]:
    fields = [getattr(prices, field) for field in _FIELDS.values()]
    return sorted({tier.start for price in fields if hasattr(price, "tiers") for tier in price.tiers})


@cache
def _source(today: date) -> str:
    """The table by its version, and the newest date until today that a price in it begins at: it is as new as that."""
    from importlib.metadata import version  # noqa: PLC0415

    newest = max((day for day in _dates() if day <= today), default=None)
    told = "" if newest is None else f", newest price of {newest.isoformat()}"
    return f"genai-prices {version('genai-prices')}{told}"


def _dates() -> Iterator[date]:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415
    from genai_prices.types import StartDateConstraint  # noqa: PLC0415

    for provider in get_snapshot().providers:
        for model in provider.models:
            for price in model.prices if isinstance(model.prices, list) else ():
                if isinstance(price.constraint, StartDateConstraint):
                    yield price.constraint.start_date
