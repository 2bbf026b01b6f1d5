"""The events of a streamed chat completion, folded into the body that would have come whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers._chat.deltas import Choice, Piece
from harness.providers._chat.reply import reply_of
from harness.providers._wire.answer import as_object, bad, word
from harness.providers._wire.events import (
    Event,
    EventReader,
    event_as_it_was,
    event_bytes,
    events_of,
    value_of,
    whole_text,
)
from harness.providers._wire.failures import failure_inside
from harness.providers._wire.stream_end import broken_off, no_stream, with_partial
from harness.providers._wire.strict_json import NotJsonError, oddities_of
from harness.schema.base import JsonValue
from harness.schema.message import Quirk, Reply

__all__ = ["coalesced", "is_last", "read_stream"]

#: The last event of a stream.
DONE = b"[DONE]"
#: Fields of a whole answer that stand in any of its events; the last one that says something counts.
_ROOT = ("id", "model", "system_fingerprint", "usage")


@dataclass(slots=True)
class _Fold:
    """What the events so far come to."""

    root: dict[str, JsonValue] = field(default_factory=dict)
    choices: dict[int, Choice] = field(default_factory=dict)
    quirks: set[Quirk] = field(default_factory=set)
    events: int = 0
    is_done: bool = False
    is_counted: bool = False

    def take(self, event: dict[str, JsonValue], status: int) -> list[Piece]:
        """One event more; gives the texts that it added. Raises ProviderError for one that tells of a failure."""
        failure = _failure(event, status)
        if failure is not None:
            raise failure
        self.quirks.update(oddities_of(event))
        corner = as_object(event.get("x_groq"))
        self.root.update({key: value for key in _ROOT if (value := event.get(key)) is not None and value != ""})
        sent = event.get("choices")
        # one vendor tells its usage beside the deltas, another in a corner of its own
        elsewhere = [as_object(one) for one in (corner, *(sent if isinstance(sent, list) else []))]
        if event.get("usage") is None:
            counted = [usage for one in elsewhere if (usage := as_object(one.get("usage")))]
            self.root.update({"usage": counted[-1]} if counted else {})
        # counts that come beside a piece go on growing; those of the end come alone
        self.is_counted = self.is_counted or (event.get("usage") is not None and not sent)
        pieces = []
        for place, one in enumerate(sent if isinstance(sent, list) else []):
            choice = as_object(one)
            index = choice.get("index")
            number = index if isinstance(index, int) and not isinstance(index, bool) else place
            known = self.choices.setdefault(number, Choice(number))
            delta = choice.get("delta")
            # some servers stream messages; with others what has come so far stands in one beside each delta
            if delta is None or not (delta or known.has_begun):
                delta = choice.get("message")
            pieces += known.add(as_object(delta), self.quirks)
            known.word = word(choice.get("finish_reason")) or known.word
        return pieces

    @property
    def is_whole(self) -> bool:
        """Whether the answer was told to its end: by the last event, or by the word why it ended."""
        return self.is_done or (bool(self.choices) and all(one.word is not None for one in self.choices.values()))

    @property
    def has_begun(self) -> bool:
        """Whether a part of an answer had come."""
        return any(one.has_begun for one in self.choices.values())

    @property
    def body(self) -> dict[str, JsonValue]:
        """The same as a whole answer."""
        choices: list[JsonValue] = [
            {"index": number, "message": choice.whole, "finish_reason": choice.word}
            for number, choice in sorted(self.choices.items())
        ]
        return {**self.root, "choices": choices}

    def partial(self, status: int) -> Reply | None:
        """What had been said and counted; None where that is nothing that can be read."""
        if not self.choices and "usage" not in self.root:
            return None
        nothing: JsonValue = [{"index": 0, "message": {}}]
        body = self.body if self.choices else {**self.root, "choices": nothing}
        try:
            reply = reply_of(body, status, self.quirks)
        except ProviderError:
            return None
        return reply if self.is_whole else _unfinished(reply, is_counted=self.is_counted)


def _unfinished(reply: Reply, *, is_counted: bool) -> Reply:
    """A reply that broke off: it has no finish, its last call may lack its end, and first counts are no evidence."""
    calls = reply.calls
    if calls and (calls[-1].fault is not None or not calls[-1].arguments_raw.strip()):
        calls = (*calls[:-1], replace(calls[-1], arguments=None, fault="truncated"))
    quirks = tuple(one for one in reply.quirks if one != "finish_missing")
    told = {"finish": None, "finish_word": None, "calls": calls, "quirks": quirks}
    return reply.model_copy(update=told if is_counted else {**told, "usage": None})


def _without_empty_end(reply: Reply) -> Reply:
    """A reply that nobody said was finished: a last call without arguments may have lost them, and is not made."""
    calls = reply.calls
    if not calls or calls[-1].arguments_raw.strip():
        return reply
    return reply.model_copy(update={"calls": (*calls[:-1], replace(calls[-1], arguments=None, fault="truncated"))})


def read_stream(response: WireResponse) -> Reply:
    """The reply in a stream with a successful status.

    It is whole with its last event or with the word why it ended. Raises ProviderError, which holds what had been said.
    """
    fold = _Fold()
    try:
        for event in events_of(response.body, is_whole=response.cut is None):
            fold.events += 1
            if event.data.strip() == DONE:
                fold.is_done = True
                break
            fold.take(_object(event, response.status), response.status)
    except ProviderError as error:
        raise with_partial(error, fold.partial(response.status), delivered=fold.has_begun) from None
    if not fold.events and response.cut is None:
        raise no_stream(response)
    if not fold.is_whole or not fold.choices:
        raise broken_off(response, fold.partial(response.status), delivered=fold.has_begun)
    body = fold.body
    try:
        reply = reply_of(body, response.status, fold.quirks)
        return reply if "finish_missing" not in reply.quirks else _without_empty_end(reply)
    except ProviderError as error:
        raise with_partial(error, error.partial, delivered=True) from None


def _object(event: Event, status: int) -> dict[str, JsonValue]:
    try:
        found = value_of(event)
    except NotJsonError:
        raise bad("an event that is not JSON", status) from None
    if not isinstance(found, dict):
        raise bad("an event that is no JSON object", status)
    return found


def _failure(event: dict[str, JsonValue], status: int) -> ProviderError | None:
    """The failure that an event tells: itself, in the corner of a vendor, or in a choice."""
    choices = event.get("choices")
    told = [event, {"error": as_object(event.get("x_groq")).get("error")}]
    told += [{"error": as_object(one).get("error")} for one in choices] if isinstance(choices, list) else []
    return next((failure for one in told if (failure := failure_inside(one, status)) is not None), None)


def is_last(event: Event) -> bool:
    """Whether nothing that follows this event is read: the end, a failure, or what cannot be read."""
    if event.data.strip() == DONE:
        return True
    found = _readable(event)
    return found is None or _failure(found, 200) is not None


def coalesced(body: bytes) -> bytes:
    """The same stream with each text in the first event that has a part of it; what cannot be read stays."""
    reader, fold = EventReader(), _Fold()
    told: list[tuple[Event, dict[str, JsonValue] | None]] = []
    texts: dict[tuple[int, str], list[Piece]] = {}
    is_read = True
    for event in reader.feed(body):
        # nobody reads on after the last event, or one that fails, so what follows stays as it is
        found = _readable(event) if is_read else None
        told.append((event, found))
        try:
            pieces = [] if found is None else fold.take(found, 200)
        except ProviderError:
            found, pieces = None, []
        is_read = found is not None
        for piece in pieces:
            texts.setdefault(piece.slot, []).append(piece)
    if "repeated_keys" in fold.quirks:
        return body  # written anew a key would stand once
    # an event without its empty line counts only where the stream was closed in order: it must stay without
    rest = b"".join(event_as_it_was(event)[:-1] for event in reader.close())
    if not told and not rest:
        return body
    for pieces in texts.values():
        whole = whole_text(str(piece.holder[piece.key]) for piece in pieces)
        for piece in pieces:
            piece.holder[piece.key] = ""
        pieces[0].holder[pieces[0].key] = whole
    return b"".join(_written(event, found) for event, found in told) + rest


def _readable(event: Event) -> dict[str, JsonValue] | None:
    try:
        return _object(event, 200)
    except ProviderError:
        return None


def _written(event: Event, found: dict[str, JsonValue] | None) -> bytes:
    return event_as_it_was(event) if found is None else event_bytes(found, event.name)
