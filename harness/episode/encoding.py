"""Requests as they are measured and named: canonical JSON, with paths as names, each message encoded once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import Message, ModelRequest

__all__ = ["OPEN", "EncodedMessages"]

#: How every encoded request begins; its messages follow, joined by commas, and then its frame.
OPEN = b'{"messages":['


class EncodedMessages:
    """Each message in canonical JSON with paths as names, encoded once however often it is sent."""

    def __init__(self, hide: Callable[[JsonValue], JsonValue]) -> None:
        self._hide = hide
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
        return self._encoded(request.model_copy(update={"messages": ()}).model_dump()).removeprefix(OPEN)

    def _encoded(self, value: dict[str, JsonValue]) -> bytes:
        # json and not pydantic: a text in it may hold half of a surrogate pair
        plain: JsonValue = json.loads(json.dumps(value))
        return canonical_json(self._hide(plain)).encode("utf-8", "surrogatepass")
