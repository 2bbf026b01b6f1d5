"""Deltas of one choice of a streamed chat completion, and the message that they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.providers._answer import as_object, word
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
    """One call as it grows. ``rest`` and ``function`` hold what else was said of it."""

    id: str | None = None
    name: str = ""
    arguments: JsonValue = None
    rest: dict[str, JsonValue] = field(default_factory=dict)
    function: dict[str, JsonValue] = field(default_factory=dict)

    @property
    def whole(self) -> dict[str, JsonValue]:
        entry: dict[str, JsonValue] = {**self.rest, "type": "function"}
        if self.id is not None:
            entry["id"] = self.id
        return {**entry, "function": {**self.function, "name": self.name, "arguments": self.arguments}}


@dataclass(slots=True)
class Choice:
    """One choice: its message so far, and the word why it ended."""

    number: int
    message: dict[str, JsonValue] = field(default_factory=dict)
    word: str | None = None
    _calls: list[_Call] = field(default_factory=list)
    _by_index: dict[int, int] = field(default_factory=dict)

    @property
    def whole(self) -> dict[str, JsonValue]:
        """The message with its calls."""
        return {**self.message, "tool_calls": [call.whole for call in self._calls]} if self._calls else self.message

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
                self.message[key] = [*known, *value]
            elif value is not None and (value or key not in self.message):
                self.message[key] = value
        return pieces

    def _text(self, key: str, value: JsonValue, holder: dict[str, JsonValue]) -> list[Piece]:
        known = self.message.get(key)
        if isinstance(value, list) or isinstance(known, list):
            self.message[key] = [*_parts(known), *_parts(value)]
            return []
        if not isinstance(value, str):
            return []
        self.message[key] = f"{known or ''}{value}"
        return [Piece((self.number, key), holder, key)]

    def _call(self, entry: dict[str, JsonValue], quirks: set[Quirk]) -> list[Piece]:
        """One entry of ``tool_calls``.

        Entries with the same index are one call, but for a new id with a name, which is another. Without an index a
        new id opens a call, and so does a name where the last call has one already; anything else goes on with it.
        """
        function = as_object(entry.get("function"))
        given, name, index = _id(entry.get("id")), word(function.get("name")), entry.get("index")
        if isinstance(index, int) and not isinstance(index, bool):
            place = self._by_index.get(index)
            if place is not None and _is_another(self._calls[place], given, name):
                quirks.add("index_reused")
                place = None
            place = self._opened() if place is None else place
            self._by_index[index] = place
        else:
            quirks.add("missing_index")
            last = self._calls[-1] if self._calls else None
            opens = (
                last is None or (given is not None and given != last.id) or (given is None and bool(name and last.name))
            )
            place = self._opened() if opens else len(self._calls) - 1
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
        if isinstance(sent, str) and (call.arguments is None or isinstance(call.arguments, str)):
            call.arguments = f"{call.arguments or ''}{sent}"
            return [Piece((self.number, f"call {place}"), function, "arguments")]
        if sent is not None and sent != "":
            call.arguments = sent
        return []

    def _legacy(self, value: dict[str, JsonValue]) -> list[Piece]:
        known = as_object(self.message.get("function_call"))
        name, sent = word(value.get("name")), value.get("arguments")
        made: dict[str, JsonValue] = {**known, "name": known.get("name") or name or ""}
        pieces = []
        if isinstance(sent, str):
            made["arguments"] = f"{known.get('arguments') or ''}{sent}"
            pieces.append(Piece((self.number, "function_call"), value, "arguments"))
        elif sent is not None:
            made["arguments"] = sent
        self.message["function_call"] = made
        return pieces


_ENTRY = frozenset({"id", "type", "function", "index"})
_FUNCTION = frozenset({"name", "arguments"})


def _id(value: JsonValue) -> str | None:
    # some servers number their calls; a number names a call as well as a text does
    given = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return given if isinstance(given, str) and given.strip() else None


def _is_another(call: _Call, given: str | None, name: str | None) -> bool:
    return given is not None and call.id is not None and given != call.id and name is not None


def _parts(value: JsonValue) -> list[JsonValue]:
    """A content as a list of parts."""
    if isinstance(value, list):
        return value
    return [{"type": "text", "text": value}] if isinstance(value, str) and value else []
