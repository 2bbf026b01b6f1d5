"""What a run reserves for its model calls and what they cost, as it is kept on disk."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from harness.schema.base import Digest, Frozen, digest_text

__all__ = ["Beyond", "Entry", "entry_name"]


class Entry(Frozen):
    """A line of ``spending.jsonl``. ``attempt`` is a digest of the episode's key and the attempt's place in it.

    ``micro_usd`` is in millionths of a US dollar: the most that a reserved attempt can cost (None: not bounded), what a
    settled one did cost (None: unknown).
    """

    attempt: str
    event: Literal["reserved", "settled"]
    micro_usd: Decimal | None


class Beyond(Frozen):
    """Model calls of a run that stand in no row of its log: of episodes that are cut off, or were set aside.

    ``micro_usd`` is what those cost of which that is known, in millionths of a US dollar; ``unknown`` is how many of
    the ``calls`` nobody knows the cost of.
    """

    calls: int = 0
    unknown: int = 0
    micro_usd: Decimal = Decimal(0)


def entry_name(key: str, row: str) -> Digest:
    """How an entry calls an attempt: by the key of its episode's receipt and the name of its row in the ledger."""
    return digest_text(f"{key}\n{row}")
