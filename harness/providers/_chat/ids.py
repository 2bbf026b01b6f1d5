"""Ids of calls for servers that take only short ones: nine letters or digits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from string import ascii_letters, digits
from typing import Final

from harness.providers._wire.answer import as_object
from harness.schema.base import JsonValue

__all__ = ["short_ids"]

_TAKEN = re.compile(r"[a-zA-Z0-9]{9}")
_SIGNS: Final = digits + ascii_letters
_LENGTH: Final = 9


def short_ids(messages: Sequence[JsonValue]) -> list[JsonValue]:
    """The messages of a body with ids that such a server takes: those that fit stay, others get one of their own.

    Equal ids stay equal and different ones different, in calls and in results alike. The same history gives the same
    ids, and what follows later changes none of them but where an id that fits happens to be one that was made.
    """
    sent = [id_ for message in messages for id_ in _ids_of(message)]
    known = {id_: id_ for id_ in sent if _TAKEN.fullmatch(id_)}
    used = set(known)
    for id_ in sent:
        if id_ not in known:
            known[id_] = _made(id_, used)
            used.add(known[id_])
    return [_with_ids(message, known) for message in messages]


def _ids_of(message: JsonValue) -> list[str]:
    known = as_object(message)
    calls = known.get("tool_calls")
    found = [as_object(call).get("id") for call in calls] if isinstance(calls, list) else []
    return [id_ for id_ in (*found, known.get("tool_call_id")) if isinstance(id_, str)]


def _made(id_: str, used: set[str]) -> str:
    """A short id for a longer one: its digest in base 62, and the next one while that is taken."""
    number = int.from_bytes(sha256(id_.encode("utf-8", "surrogatepass")).digest(), "big")
    while True:
        rest, signs = number, []
        for _ in range(_LENGTH):
            rest, place = divmod(rest, len(_SIGNS))
            signs.append(_SIGNS[place])
        made = "".join(signs)
        if made not in used:
            return made
        number += 1


def _with_ids(message: JsonValue, known: dict[str, str]) -> JsonValue:
    changed = dict(as_object(message))
    result, calls = changed.get("tool_call_id"), changed.get("tool_calls")
    if isinstance(result, str):
        changed["tool_call_id"] = known[result]
    if isinstance(calls, list):
        changed["tool_calls"] = [_with_id(as_object(call), known) for call in calls]
    return changed


def _with_id(call: dict[str, JsonValue], known: dict[str, str]) -> JsonValue:
    id_ = call.get("id")
    return {**call, "id": known[id_]} if isinstance(id_, str) else call
