"""One plan on several machines: which of them plays which episode."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeVar

from harness.errors import NothingSelectedError, UsageError
from harness.schema.counting import counted

__all__ = ["SHARDS_MAX", "parse_shard", "slice_of"]

_One = TypeVar("_One")

#: Most shards of one plan.
SHARDS_MAX: Final = 1000


def parse_shard(text: str) -> tuple[int, int]:
    """``I/N`` as number (from 1) and count. Raises UsageError."""
    found = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count <= SHARDS_MAX:
        raise UsageError(f"--shard takes I/N, like 2/5: the second of five; allowed: I from 1 to N, N to {SHARDS_MAX}")
    return number, count


def slice_of(plan: Sequence[_One], number: int, count: int) -> tuple[_One, ...]:
    """What the shard ``number`` (from 1) of ``count`` plays: every ``count``-th place of the plan, in its order.

    The shards of a plan have no place in common, leave none out, and differ by one place at most; trials of one
    scenario are dealt out, so that no machine has all of the slow ones. Raises NothingSelectedError for an empty one.
    """
    found = tuple(plan[number - 1 :: count])
    if not found:
        raise NothingSelectedError(
            f"shard {number}/{count} is empty: the plan has only {counted(len(plan), 'episode')}"
        )
    return found
