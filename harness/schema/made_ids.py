"""Ids of calls that came without one: made from what the answer says, and another in each turn of an episode."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import replace
from hashlib import sha256
from typing import Final

from harness.schema.base import Digest, digest_text
from harness.schema.message import Reply
from harness.schema.tool import ToolCall

__all__ = ["SEED", "set_apart"]

#: What a made id starts with; its position in the answer follows, from 1.
SEED: Final = re.compile(r"made-[0-9a-f]{16}")
_MADE: Final = re.compile(rf"({SEED.pattern})-([0-9]+)")


def set_apart(reply: Reply, used: AbstractSet[Digest], turn: int) -> Reply:
    """The reply with other made ids where one of them is in ``used``, the digests of all ids before this turn.

    A model that says the same again makes the same ids again, which is no fault of its own. An id that a provider
    gave is never changed.
    """
    made = [_MADE.fullmatch(call.id) for call in reply.calls]
    if not any(found and digest_text(found[0]) in used for found in made):
        return reply
    calls = (_renamed(call, found, turn) for call, found in zip(reply.calls, made, strict=True))
    return reply.model_copy(update={"calls": tuple(calls)})


def _renamed(call: ToolCall, found: re.Match[str] | None, turn: int) -> ToolCall:
    if found is None:
        return call
    seed = sha256(f"{found[1]} {turn}".encode("ascii")).hexdigest()[:16]
    return replace(call, id=f"made-{seed}-{found[2]}")
