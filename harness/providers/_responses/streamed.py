"""A whole stream of a response: the reply in it, the same stream in fewer events, and a stream for a reply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers._responses.body import reply_body
from harness.providers._responses.items import OUTPUT, is_call, parts_of
from harness.providers._responses.reply import failure_with, partial_of, read_reply
from harness.providers._responses.stream import Folded, Sent, Slot, fold, piece_of, take
from harness.providers._wire.answer import word
from harness.providers._wire.events import (
    Event,
    EventReader,
    event_as_it_was,
    event_bytes,
    events_of,
    object_of,
    whole_text,
)
from harness.providers._wire.stream_end import broken_off, no_stream, with_partial
from harness.schema.base import JsonValue
from harness.schema.message import Reply

__all__ = ["coalesced", "read_stream", "reply_events"]

#: The parts of a message that come in pieces, and the field that holds their text.
_TEXTS: Final = {"output_text": "text", "refusal": "refusal"}


def read_stream(response: WireResponse) -> Reply:
    """The reply in a stream that came with a successful status.

    Raises:
        ProviderError: with what had been said before; ``stream_incomplete`` where it closed before its end.
    """
    events = events_of(response.body, is_whole=response.cut is None)
    if not events and response.cut is None:
        raise no_stream(response)
    folded = fold(events, response.status)
    body = folded.body
    if folded.ended:
        try:
            return read_reply(body, response.status, folded.quirks)
        except ProviderError as error:
            raise with_partial(error, None, delivered=folded.has_begun) from None
    partial = partial_of(body, None)
    raise failure_with(folded.error or broken_off(response, partial, delivered=folded.has_begun), partial)


@dataclass(slots=True)
class _Kept:
    """The event that stays of several, and the pieces of all of them."""

    event: Event
    sent: Sent
    pieces: list[str] = field(default_factory=list)

    @property
    def joined(self) -> bytes:
        return event_bytes({**self.sent, "delta": whole_text(self.pieces)}, self.event.name)


def coalesced(body: bytes) -> bytes:
    """The same stream with each text in the first event that has a piece of it; from its end on it stays as it is.

    An event that is the first to tell where an item of its id belongs stays as well.
    """
    reader, folded = EventReader(), Folded()
    out: list[bytes | _Kept] = []
    kept: dict[Slot, _Kept] = {}
    is_over = False
    for event in reader.feed(body):
        sent, known = None if is_over else object_of(event), len(folded.ids)
        found = None if sent is None else piece_of(folded, sent)
        is_over = sent is None or take(folded, sent, 200) is not None or folded.ended
        if sent is None or found is None or is_over:
            out.append(event_as_it_was(event))
            continue
        slot, piece = found
        if slot not in kept or len(folded.ids) > known:
            kept[slot] = _Kept(event, sent)
            out.append(kept[slot])
        kept[slot].pieces.append(piece)
    if "repeated_keys" in folded.quirks:
        return body  # written anew a key would stand once
    # an event without its empty line counts only where the stream was closed in order: it must stay without
    last = [event_as_it_was(event)[:-1] for event in reader.close()]
    return b"".join([*(one.joined if isinstance(one, _Kept) else one for one in out), *last]) or body


def reply_events(reply: Reply) -> tuple[bytes, ...]:
    """Events whose decoding gives this reply back, each text in two pieces."""
    body = reply_body(reply)
    begun: Sent = {**body, "status": "in_progress", "incomplete_details": None, OUTPUT: [], "usage": None}
    sent: list[Sent] = [{"type": "response.created", "response": begun}]
    output = body[OUTPUT]
    for place, item in enumerate(output if isinstance(output, list) else []):
        if isinstance(item, dict):
            sent += _item_events(place, item)
    last = "response.incomplete" if body.get("status") == "incomplete" else "response.completed"
    sent.append({"type": last, "response": body})
    return tuple(
        event_bytes({**event, "sequence_number": number}, str(event["type"])) for number, event in enumerate(sent)
    )


def _item_events(place: int, item: Sent) -> list[Sent]:
    """An item that is begun empty, gets its texts, and is done."""
    at: Sent = {"output_index": place}
    if isinstance(item.get("id"), str):
        at["item_id"] = item["id"]
    empty: Sent = {"arguments": ""} if is_call(item) else {}
    if isinstance(item.get("content"), list):
        empty["content"] = []
    told: list[tuple[str, Sent, JsonValue]] = []
    if is_call(item):
        told.append(("response.function_call_arguments", at, item.get("arguments")))
    if item.get("type") == "message":
        told += [
            (f"response.{part['type']}", {**at, "content_index": index}, part.get(_TEXTS[str(part["type"])]))
            for index, part in enumerate(parts_of(item))
            if word(part.get("type")) in _TEXTS
        ]
    events: list[Sent] = [{"type": "response.output_item.added", "output_index": place, "item": {**item, **empty}}]
    for kind, where, text in told:
        if isinstance(text, str) and text:
            half = (len(text) + 1) // 2
            pieces = [piece for piece in (text[:half], text[half:]) if piece]
            events += [{"type": f"{kind}.delta", **where, "delta": piece} for piece in pieces]
    return [*events, {"type": "response.output_item.done", "output_index": place, "item": item}]
