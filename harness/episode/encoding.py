"""Requests as they are measured and named: canonical JSON, with paths as names, each message encoded once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from harness.schema.base import JsonValue, Plain, canonical_json, encoding, fields_of
from harness.schema.message import GenerationSettings, Message, ModelRequest
from harness.schema.tool import ToolSpec

__all__ = ["OPEN", "EncodedMessages", "kept_json"]

#: How every encoded request begins; its messages follow, joined by commas, and then its frame.
OPEN = b'{"messages":['
_canonical = encoding(ensure_ascii=False, default=fields_of)
#: Fields that hold what a provider or a control plane said: it comes back as it was, the order of its names included.
_THEIRS = frozenset({"answer", "opaque", "arguments"})
#: What the encoder takes as it is, with names in the order that they have.
_HOLDERS = (dict, list, tuple)


def kept_json(value: object) -> bytes:
    """A reply or a result as the spool keeps it: our own fields in the order of their names."""
    # json and not pydantic: a text in it may hold half of a surrogate pair
    return _as_it_is(_in_order(value)).encode("ascii")


def _in_order(value: object) -> object:
    """What is in it has its names in order; values of ours get theirs where the encoder meets them."""
    if isinstance(value, dict):
        return {name: _field(name, value[name]) for name in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list | tuple) else value


def _field(name: str, held: object) -> object:
    return _in_order(held) if isinstance(held, _HOLDERS) and name not in _THEIRS else held


def _fields_in_order(value: object) -> object:
    """As ``fields_of``, in the order of their names."""
    if isinstance(value, Plain):
        return {name: _field(name, getattr(value, name)) for name in _in_names_order(value.__slots__)}
    return _in_order(fields_of(value))


_as_it_is = encoding(separators=(", ", ": "), allow_nan=True, sort_keys=False, default=_fields_in_order)


@cache
def _in_names_order(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(names))


class EncodedMessages:
    """Each message in canonical JSON with paths as names, encoded once however often it is sent."""

    def __init__(self, hide: Callable[[JsonValue], JsonValue], touches: Callable[[str], bool] = lambda _: True) -> None:
        """``touches`` tells of a text in JSON whether ``hide`` may change anything in it."""
        self._hide, self._touches = hide, touches
        self._framed: tuple[tuple[str, GenerationSettings, tuple[ToolSpec, ...]], bytes] | None = None
        self._known: list[tuple[Message, bytes]] = []

    def parts(self, messages: Sequence[Message]) -> list[bytes]:
        """The encoding of each message."""
        for at, message in enumerate(messages):
            if at == len(self._known):
                self._known.append((message, self._encoded(message)))
            elif self._known[at][0] is not message:
                self._known[at:] = [(message, self._encoded(message))]
        return [data for _, data in self._known[: len(messages)]]

    def frame(self, request: ModelRequest) -> bytes:
        """What follows the messages of a request: model, settings, tools."""
        told = request.model, request.settings, request.tools
        if self._framed is None or self._framed[0] != told:
            self._framed = told, self._encoded(replace(request, messages=())).removeprefix(OPEN)
        return self._framed[1]

    def _encoded(self, value: Message | ModelRequest) -> bytes:
        # json and not pydantic: a text in it may hold half of a surrogate pair
        text = _canonical(value)
        if self._touches(text):
            text = canonical_json(self._hide(json.loads(text)))
        return text.encode("utf-8", "surrogatepass")
