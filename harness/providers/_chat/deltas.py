"""Deltas of one choice of a streamed chat completion, and the message that they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.providers._chat.message import id_of
from harness.providers._wire.answer import as_object, word
from harness.providers._wire.events import whole_text
from harness.schema.base import JsonValue
from harness.schema.message import Quirk

__all__ = ["Choice", "Piece"]

#: Fields that come in pieces of text.
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text: where it stands in its event, and which text of the answer it belongs to."""

    slot: tuple[int, str]
    holder: dict[str, JsonValue]
    key: str


@dataclass(slots=True)
class _Call:
    """One call as it grows.

    Its arguments are ``pieces`` of a text, or a ``value`` where they came as one. ``rest`` and ``function`` hold what
    else was said of it.
    """

    id: str | None = None
    name: str = ""
    value: JsonValue = None
    pieces: list[str] = field(default_factory=list)
    rest: dict[str, JsonValue] = field(default_factory=dict)
    function: dict[str, JsonValue] = field(default_factory=dict)

    @property
    def whole(self) -> dict[str, JsonValue]:
        entry: dict[str, JsonValue] = {**self.rest, "type": "function"}
        if self.id is not None:
            entry["id"] = self.id
        arguments = whole_text(self.pieces) if self.value is None and self.pieces else self.value
        return {**entry, "function": {**self.function, "name": self.name, "arguments": arguments}}


@dataclass(slots=True)
class Choice:
    """One choice: its message so far, and the word why it ended."""

    number: int
    message: dict[str, JsonValue] = field(default_factory=dict)
    word: str | None = None
    _texts: dict[str, list[str]] = field(default_factory=dict)
    _calls: list[_Call] = field(default_factory=list)
    _by_index: dict[int, int] = field(default_factory=dict)
    _legacy_pieces: list[str] = field(default_factory=list)

    @property
    def whole(self) -> dict[str, JsonValue]:
        """The message with its texts and calls."""
        made: dict[str, JsonValue] = {**self.message, **{key: whole_text(held) for key, held in self._texts.items()}}
        if self._legacy_pieces:
            made["function_call"] = {**as_object(made["function_call"]), "arguments": whole_text(self._legacy_pieces)}
        return {**made, "tool_calls": [call.whole for call in self._calls]} if self._calls else made

    @property
    def has_begun(self) -> bool:
        """Whether anything was said."""
        return bool(self.message or self._texts or self._calls)

    def add(self, delta: dict[str, JsonValue], quirks: set[Quirk]) -> list[Piece]:
        """One delta more; gives the texts that it added. What is odd about its calls goes to ``quirks``."""
        pieces = []
        for key, value in delta.items():
            if key in _TEXTS:
                pieces += self._text(key, value, delta)
            elif key == "tool_calls":
                for entry in value if isinstance(value, list) else []:
                    pieces += self._call(as_object(entry), quirks)
            elif key == "function_call" and isinstance(value, dict):
                pieces += self._legacy(value)
            elif isinstance(value, list) and isinstance(known := self.message.get(key), list):
                known.extend(value)
            elif value is not None and (value or key not in self.message):
                # what grows later is a list of our own, not that of the event
                self.message[key] = [*value] if isinstance(value, list) else value
        return pieces

    def _text(self, key: str, value: JsonValue, holder: dict[str, JsonValue]) -> list[Piece]:
        known = self.message.get(key)
        if isinstance(known, list):
            known.extend(_parts(value))
            return []
        if isinstance(value, list):
            before: JsonValue = whole_text(self._texts.pop(key, ())) if known is None else known
            self.message[key] = [*_parts(before), *_parts(value)]
            return []
        if not isinstance(value, str):
            return []
        self._texts.setdefault(key, []).append(value)
        return [Piece((self.number, key), holder, key)]

    def _call(self, entry: dict[str, JsonValue], quirks: set[Quirk]) -> list[Piece]:
        """One entry of ``tool_calls``.

        Entries with the same index are one call, but for a new id with a name, which is another. Without an index a
        new id opens a call, and so does a name where the last call has one already; anything else goes on with it.
        """
        function = as_object(entry.get("function"))
        given, name, index = id_of(entry.get("id")), word(function.get("name")), entry.get("index")
        if isinstance(index, int) and not isinstance(index, bool):
            place = self._by_index.get(index)
            if place is not None and _is_another(self._calls[place], given, name):
                quirks.add("index_reused")
                place = None
            place = self._opened() if place is None else place
            self._by_index[index] = place
        else:
            quirks.add("missing_index")
            place = self._opened() if self._opens(given, name) else len(self._calls) - 1
        call = self._calls[place]
        call.id = call.id or given
        if name is not None and name != call.name:
            call.name += name
        call.rest.update({key: value for key, value in entry.items() if key not in _ENTRY and value is not None})
        call.function.update(
            {key: value for key, value in function.items() if key not in _FUNCTION and value is not None}
        )
        return self._arguments(call, place, function)

    def _opens(self, given: str | None, name: str | None) -> bool:
        """Whether an entry without an index begins another call."""
        if not self._calls:
            return True
        last = self._calls[-1]
        return bool(name and last.name) if given is None else given != last.id

    def _opened(self) -> int:
        self._calls.append(_Call())
        return len(self._calls) - 1

    def _arguments(self, call: _Call, place: int, function: dict[str, JsonValue]) -> list[Piece]:
        sent = function.get("arguments")
        if isinstance(sent, str) and call.value is None:
            call.pieces.append(sent)
            return [Piece((self.number, f"call {place}"), function, "arguments")]
        if sent is not None and sent != "":
            # a value at once says it all, so one that comes later is said instead
            call.pieces, call.value = ([sent], None) if isinstance(sent, str) else ([], sent)
        return []

    def _legacy(self, value: dict[str, JsonValue]) -> list[Piece]:
        known = as_object(self.message.get("function_call"))
        name, sent = word(value.get("name")), value.get("arguments")
        made: dict[str, JsonValue] = {**known, "name": known.get("name") or name or ""}
        self.message["function_call"] = made
        if isinstance(sent, str):
            self._legacy_pieces.append(sent)
            return [Piece((self.number, "function_call"), value, "arguments")]
        if sent is not None:
            made["arguments"] = sent
        return []


_ENTRY = frozenset({"id", "type", "function", "index"})
_FUNCTION = frozenset({"name", "arguments"})


def _is_another(call: _Call, given: str | None, name: str | None) -> bool:
    return given is not None and call.id is not None and given != call.id and name is not None


def _parts(value: JsonValue) -> list[JsonValue]:
    """A content as a list of parts."""
    if isinstance(value, list):
        return value
    return [{"type": "text", "text": value}] if isinstance(value, str) and value else []
