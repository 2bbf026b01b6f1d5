"""The calls of one answer: each with an id of its own, and none that was cut off taken for a whole one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Final

from harness.providers._wire.arguments import Arguments
from harness.schema.base import JsonValue, canonical_json
from harness.schema.made_ids import SEED
from harness.schema.message import Quirk
from harness.schema.tool import ToolCall

__all__ = ["MADE", "CallSent", "made_id", "numbered", "seed_in", "seed_of"]

#: An id that we made for a call that came without one.
MADE: Final = re.compile(rf"({SEED.pattern})-\d+")


@dataclass(frozen=True, slots=True)
class CallSent:
    """One call as it came; ``id`` is None where the provider gave none.

    ``cut`` says that it never came to its end.
    """

    id: str | None
    name: str
    arguments: Arguments
    cut: bool = False


def seed_of(given: JsonValue, said: JsonValue) -> str:
    """What made ids start with: the same for what says the same, however it is written.

    ``given`` is the answer's id, ``said`` the whole of it.
    """
    if isinstance(given, str) and SEED.fullmatch(given):
        return given
    return f"made-{sha256(canonical_json(said).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def seed_in(calls: Sequence[ToolCall]) -> str | None:
    """What the first made id among those of the calls starts with; None where none was made."""
    return next((made[1] for call in calls if (made := MADE.fullmatch(call.id))), None)


def made_id(seed: str, position: int) -> str:
    """The id of a call that came without one; ``position`` counts from 1."""
    return f"{seed}-{position}"


def numbered(
    sent: Sequence[CallSent], seed: Callable[[], str], *, has_ids: bool = True, truncated: bool = False
) -> tuple[tuple[ToolCall, ...], tuple[Quirk, ...]]:
    """The calls and their oddities; without ``has_ids`` the dialect gives none, and a missing one is not odd.

    ``seed`` gives what made ids start with; it is asked where one is made, for it may have to read the whole answer.
    ``truncated`` says that the answer ended by its length: then the last call was cut off. Such a call is never run,
    whatever of it can be read.
    """
    calls: list[ToolCall] = []
    quirks: set[Quirk] = set()
    ids: set[str] = set()
    begin = cache(seed)
    for position, one in enumerate(sent, 1):
        quirks.update(one.arguments.quirks)
        if one.id is None and has_ids:
            quirks.add("missing_call_id")
        elif one.id is not None and one.id in ids:
            quirks.add("duplicate_call_id")
        cut = one.cut or (truncated and position == len(sent))
        call = ToolCall(
            id=one.id if one.id is not None else made_id(begin(), position),
            name=one.name,
            arguments_raw=one.arguments.raw,
            arguments=None if cut else one.arguments.value,
            fault="truncated" if cut else one.arguments.fault,
        )
        calls.append(call)
        ids.add(call.id)
    return tuple(calls), tuple(quirks)
