"""What a run reserves for its model calls and what they cost, as it is kept on disk."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from harness.schema.base import Frozen

__all__ = ["Entry"]


class Entry(Frozen):
    """A line of ``spending.jsonl``. ``attempt`` is a digest of the episode's key and the attempt's place in it.

    ``micro_usd`` is in millionths of a US dollar: the most that a reserved attempt can cost (None: not bounded), what a
    settled one did cost (None: unknown).
    """

    attempt: str
    event: Literal["reserved", "settled"]
    micro_usd: Decimal | None
