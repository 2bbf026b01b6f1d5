"""Requests as they are measured and named: canonical JSON, with paths as names, each message encoded once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import GenerationSettings, Message, ModelRequest
from harness.schema.tool import ToolSpec

__all__ = ["OPEN", "EncodedMessages", "kept_json"]

#: How every encoded request begins; its messages follow, joined by commas, and then its frame.
OPEN = b'{"messages":['
#: Fields that hold what a provider or a control plane said: it comes back as it was, the order of its names included.
_THEIRS = frozenset({"answer", "opaque", "arguments"})


def kept_json(value: JsonValue) -> bytes:
    """A reply or a result as the spool keeps it: our own fields in the order of their names."""
    # json and not pydantic: a text in it may hold half of a surrogate pair
    return json.dumps(_in_order(value)).encode("ascii")


def _in_order(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    if isinstance(value, dict):
        return {name: value[name] if name in _THEIRS else _in_order(value[name]) for name in sorted(value)}
    return value


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
                self._known.append((message, self._encoded(message.model_dump())))
            elif self._known[at][0] is not message:
                self._known[at:] = [(message, self._encoded(message.model_dump()))]
        return [data for _, data in self._known[: len(messages)]]

    def frame(self, request: ModelRequest) -> bytes:
        """What follows the messages of a request: model, settings, tools."""
        told = request.model, request.settings, request.tools
        if self._framed is None or self._framed[0] != told:
            bare = request.model_copy(update={"messages": ()})
            self._framed = told, self._encoded(bare.model_dump()).removeprefix(OPEN)
        return self._framed[1]

    def _encoded(self, value: dict[str, JsonValue]) -> bytes:
        # json and not pydantic: a text in it may hold half of a surrogate pair
        text = canonical_json(value)
        if self._touches(text):
            text = canonical_json(self._hide(json.loads(text)))
        return text.encode("utf-8", "surrogatepass")
