"""The events of a streamed answer, folded into the body that would have come whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers._gemini.parts import Part, as_parts, is_bare_text
from harness.providers._gemini.reply import read_answer
from harness.providers._wire.answer import as_object, bad, count, word
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
from harness.providers._wire.stream_end import bare_failure, broken_off, last_block, no_stream, with_partial
from harness.providers._wire.strict_json import NotJsonError, oddities_of
from harness.schema.base import JsonValue
from harness.schema.message import Quirk, Reply

__all__ = ["Fold", "coalesced", "ends", "read_stream"]

_DONE = b"[DONE]"


@dataclass(slots=True)
class _Candidate:
    """One candidate. ``parts`` are the pieces of each part: more than one is one text that came in several events."""

    root: dict[str, JsonValue] = field(default_factory=dict)
    content: dict[str, JsonValue] = field(default_factory=dict)
    parts: list[list[Part]] = field(default_factory=list)

    def add(self, sent: dict[str, JsonValue], parts: list[Part]) -> None:
        """What one more event says of it."""
        content = as_object(sent.get("content"))
        self.root |= {key: value for key, value in sent.items() if value is not None and key != "content"}
        self.content |= {key: value for key, value in content.items() if value is not None and key != "parts"}
        for place, part in enumerate(parts):
            before = self.parts[-1][-1] if self.parts and place == 0 else None
            if before is not None and _goes_on(before, part):
                self.parts[-1].append(part)
            else:
                self.parts.append([part])

    @property
    def whole(self) -> dict[str, JsonValue]:
        """The same as one object."""
        parts: list[JsonValue] = [_one(pieces) for pieces in self.parts]
        return {**self.root, "content": {**self.content, "parts": parts}}


def _goes_on(before: Part, part: Part) -> bool:
    """Whether a part is the same text going on; one with a signature stands alone."""
    return is_bare_text(before) and is_bare_text(part) and bool(before.get("thought")) == bool(part.get("thought"))


def _one(pieces: list[Part]) -> Part:
    return pieces[0] if len(pieces) == 1 else {**pieces[0], "text": whole_text(str(piece["text"]) for piece in pieces)}


class Fold:
    """What the events so far come to.

    ``is_whole`` says that a reason of the end came, ``goes_on`` that more was said after one: some servers give one
    with every event, so only the end of the stream tells which was the last. ``is_over`` says that nothing more is to
    be read: the mark of the end came, or an error did.
    """

    def __init__(self, status: int = 200) -> None:
        self.root: dict[str, JsonValue] = {}
        self.candidates: dict[int, _Candidate] = {}
        self.is_whole = False
        self.is_over = self.goes_on = False
        self.quirks: set[Quirk] = set()
        self._status = status
        self._first: int | None = None

    def take(self, event: Event) -> dict[str, JsonValue] | None:
        """One event more; gives what it held, None for the mark of the end.

        Raises ProviderError for one that tells of a failure or cannot be read.
        """
        if event.data.strip() == _DONE:
            self.is_whole = self.is_over = True
            return None
        try:
            sent = self._read(event)
            found = self._found(sent)
        except ProviderError:
            self.is_over = True
            raise
        self.quirks.update(oddities_of(sent))
        self.root |= {key: value for key, value in sent.items() if value is not None and key != "candidates"}
        self.goes_on = self.goes_on or (self.is_whole and any(parts for _, _, parts in found))
        for number, candidate, parts in found:
            self.candidates.setdefault(number, _Candidate()).add(candidate, parts)
            self._first = number if self._first is None else min(self._first, number)
        self.is_whole = self._has_reason()
        return sent

    def _read(self, event: Event) -> dict[str, JsonValue]:
        try:
            sent = value_of(event)
        except NotJsonError:
            raise bad("a damaged event", self._status) from None
        failure = failure_inside(sent, self._status)
        if failure is not None:
            raise failure
        if not isinstance(sent, dict):
            raise bad("an event that is no JSON object", self._status)
        return sent

    def _found(self, sent: dict[str, JsonValue]) -> list[tuple[int, dict[str, JsonValue], list[Part]]]:
        candidates = [] if sent.get("candidates") is None else sent["candidates"]
        if not isinstance(candidates, list):
            raise bad("candidates that are no list", self._status)
        found = []
        for place, candidate in enumerate(candidates):
            parts = as_parts(candidate.get("content")) if isinstance(candidate, dict) else None
            if not isinstance(candidate, dict) or parts is None:
                raise bad("a candidate whose content cannot be read", self._status)
            number = count(candidate.get("index"))
            found.append((place if number is None else number, candidate, parts))
        return found

    def _has_reason(self) -> bool:
        if self._first is not None:
            return word(self.candidates[self._first].root.get("finishReason")) is not None
        return word(as_object(self.root.get("promptFeedback")).get("blockReason")) is not None

    @property
    def body(self) -> dict[str, JsonValue]:
        """The same as a whole answer."""
        candidates: list[JsonValue] = [
            {**one.whole, "index": number} for number, one in sorted(self.candidates.items())
        ]
        return {**self.root, "candidates": candidates}

    @property
    def has_begun(self) -> bool:
        """Whether a part of an answer had come."""
        return any(one.parts for one in self.candidates.values())

    def reply(self) -> Reply:
        """The reply in it. Raises ProviderError as for a whole answer."""
        return read_answer(self.body, self._status, self.quirks)

    def partial(self) -> Reply | None:
        """What had been said. Counts that came before the end are no evidence: they go on growing."""
        try:
            reply = self.reply()
        except ProviderError as error:
            return error.partial if self.is_whole else None
        if self.is_whole:
            return reply
        quirks = tuple(quirk for quirk in reply.quirks if quirk != "finish_missing")
        return reply.model_copy(update={"finish": None, "usage": None, "quirks": quirks})


def read_stream(response: WireResponse) -> Reply:
    """The reply in a stream that came with a successful status.

    Raises:
        ProviderError: with what had been said before; ``stream_incomplete`` where it closed before its end.
    """
    fold = Fold(response.status)
    events = events_of(response.body, is_whole=response.cut is None)
    try:
        for event in events:
            fold.take(event)
            if fold.is_over:
                break
    except ProviderError as error:
        raise with_partial(error, fold.partial(), delivered=fold.has_begun) from None
    if not events and response.cut is None:
        raise no_stream(response)
    if not fold.is_whole or (response.cut is not None and fold.goes_on):
        told = bare_failure(response.body, response.status)
        if told is not None:
            raise with_partial(told, fold.partial(), delivered=fold.has_begun)
        raise broken_off(response, fold.partial(), delivered=fold.has_begun)
    return fold.reply()


def ends(fold: Fold, events: list[Event]) -> bool:
    """Whether the stream is over with these events, which follow those that ``fold`` has taken."""
    try:
        for event in events:
            fold.take(event)
            if fold.is_over:
                return True
    except ProviderError:
        return True
    return False


def coalesced(body: bytes) -> bytes:
    """The same stream with each text in the first event that has a part of it; what cannot be read stays."""
    reader, fold = EventReader(), Fold()
    told: list[tuple[Event, dict[str, JsonValue] | None]] = []
    for event in reader.feed(body):
        sent = None
        if not fold.is_over:
            try:
                sent = fold.take(event)
            except ProviderError:
                sent = None
        told.append((event, sent))
    if "repeated_keys" in fold.quirks:
        return body  # written anew a key would stand once
    for candidate in fold.candidates.values():
        for first, *later in candidate.parts:
            if later:
                first["text"] = whole_text(str(piece["text"]) for piece in (first, *later))
            for piece in later:
                piece["text"] = ""
    out = [event_as_it_was(event) if sent is None else event_bytes(sent, event.name) for event, sent in told]
    # an event without its empty line counts only where the stream was closed in order: it must stay without
    out += [event_as_it_was(event)[:-1] for event in reader.close()]
    if not out:
        # what has no event is no stream, and tells in its own way what it is
        return body
    last = last_block(body)
    return b"".join([*out, last] if last[:1] in {b"{", b"["} else out)
