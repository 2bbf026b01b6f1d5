"""Server-sent events as bytes: a reader that may be fed in any pieces, and the way back.

The rules are those of the HTML standard, 9.2.5 and 9.2.6: CR, LF and CRLF end a line, an empty line ends an event, a
block without data is none. Two things differ on purpose. Data stay bytes, so that who reads them can tell damaged UTF-8
from a character; and an event that only lacks its empty line counts where the stream was closed in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harness.providers._wire.strict_json import NotJsonError, Repeating, read_json
from harness.schema.base import JsonValue, canonical_json

__all__ = ["Event", "EventReader", "event_as_it_was", "event_bytes", "events_of", "object_of", "value_of", "whole_text"]

_ERROR = "error"
_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")
#: At least one empty line; those that follow it end no further event.
_EMPTY_LINES = re.compile(rb"[\r\n]{3,}")


@dataclass(frozen=True, slots=True)
class Event:
    """One event: ``name`` as its ``event`` field says it (empty: none), ``data`` its data lines joined by LF."""

    name: str
    data: bytes


class EventReader:
    """Reads one stream. However its bytes are cut into pieces, the events are the same."""

    def __init__(self) -> None:
        self._begun = False
        self._head = b""
        self._pieces: list[bytes] = []
        self._after_cr = False
        self._name = ""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[Event]:
        """The events that this piece completes."""
        if not self._begun:
            self._head += piece
            if len(self._head) < len(_BOM) and _BOM.startswith(self._head):
                return []
            self._begun, piece = True, self._head.removeprefix(_BOM)
        if self._after_cr and piece:
            # the CR ended the line already; its LF may come in the next piece
            piece, self._after_cr = piece.removeprefix(b"\n"), False
        self._after_cr = piece.endswith(b"\r")
        *lines, rest = _LINE_END.split(_EMPTY_LINES.sub(b"\n\n", piece))
        found = []
        for line in lines:
            whole = line
            if self._pieces:
                whole = b"".join((*self._pieces, line))
                self._pieces = []
            event = self._take(whole)
            if event is not None:
                found.append(event)
        if rest:
            self._pieces.append(rest)
        return found

    def close(self) -> list[Event]:
        """The event that the end of a stream completes; a half line is none of it."""
        event = self._take(b"")
        return [] if event is None else [event]

    def _take(self, line: bytes) -> Event | None:
        if not line:
            data, name = b"\n".join(self._data), self._name
            self._data, self._name = [], ""
            return Event(name, data) if data.strip() else None
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        return None


def events_of(body: bytes, *, is_whole: bool = True) -> list[Event]:
    """All events of a stream; without ``is_whole`` it broke off, and what only lacks its end is left out."""
    reader = EventReader()
    found = reader.feed(body)
    return [*found, *reader.close()] if is_whole else found


def value_of(event: Event) -> JsonValue:
    """What an event holds; one that is named an error is one, in an object, whatever it holds. Raises NotJsonError."""
    if event.name != _ERROR:
        return read_json(event.data)
    try:
        value = read_json(event.data)
    except NotJsonError:
        value = event.data.decode("utf-8", "replace")
    if isinstance(value, dict) and (value.get("error") or value.get("type") == _ERROR):
        return {**value, "type": _ERROR}
    return {"type": _ERROR, "error": value}


def object_of(event: Event) -> dict[str, JsonValue] | None:
    """What an event holds, its ``type`` always set where one is told; None for anything but a JSON object."""
    try:
        value = value_of(event)
    except NotJsonError:
        return None
    if not isinstance(value, dict):
        return None
    kind = value.get("type")
    if isinstance(kind, str) and kind:
        return value
    return (
        Repeating([*value.pairs, ("type", event.name)])
        if isinstance(value, Repeating)
        else {**value, "type": event.name}
    )


def event_bytes(data: JsonValue | str, name: str = "") -> bytes:
    """One event as a server writes it; ``data`` is a text without line ends, or a value that becomes JSON."""
    text = data if isinstance(data, str) else canonical_json(data)
    head = f"event: {name}\n" if name else ""
    # a lone surrogate has no UTF-8 form; as an escape, which is what this handler writes, JSON can carry it
    return f"{head}data: {text}\n\n".encode("utf-8", "backslashreplace")


def event_as_it_was(event: Event) -> bytes:
    """An event that was read, written again; comments and other fields are left out."""
    head = f"event: {event.name}\n".encode() if event.name else b""
    return head + b"".join(b"data: " + line + b"\n" for line in event.data.split(b"\n")) + b"\n"


def whole_text(pieces: Iterable[str]) -> str:
    """The text of pieces: halves of one character that came in two of them are one once they stand side by side."""
    return "".join(pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
