"""A whole stream of the messages API: the reply in it, and the same stream in fewer events."""

from __future__ import annotations

from dataclasses import replace

from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers._anthropic.reply import read_message
from harness.providers._anthropic.stream import DELTA_FIELDS, Folded, fold
from harness.providers._wire.events import EventReader, event_as_it_was, event_bytes, events_of, object_of, whole_text
from harness.providers._wire.stream_end import broken_off, no_stream
from harness.providers._wire.strict_json import oddities_of
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import Reply

__all__ = ["coalesced", "read_stream"]


def read_stream(response: WireResponse) -> Reply:
    """The reply in a stream that came with a successful status.

    Raises:
        ProviderError: with what had been said before; ``stream_incomplete`` where it closed before its end.
    """
    events = events_of(response.body, is_whole=response.cut is None)
    folded = fold(events, response.status)
    error = folded.error or _end_of(folded, response, any_event=bool(events))
    if error is None:
        return _read(folded, response.status)
    if folded.blocks or folded.body.keys() - {"content"}:
        error.delivered = True
        error.partial = _partial(folded, response.status)
    raise error


def _end_of(folded: Folded, response: WireResponse, *, any_event: bool) -> ProviderError | None:
    """What is wrong with how the stream ended; None where it ended in order."""
    if folded.ended:
        return None
    if response.cut is None and not any_event:
        return no_stream(response)
    return None if response.cut is None and folded.stopped else broken_off(response, None, delivered=False)


def _read(folded: Folded, status: int) -> Reply:
    return read_message(folded.body, status, texts=folded.texts, still_open=folded.open, oddities=tuple(folded.quirks))


def _partial(folded: Folded, status: int) -> Reply | None:
    """What had been said. Calls that were still being written, and first counts of usage, are no evidence."""
    if not folded.counted:
        folded.body.pop("usage", None)
    try:
        reply = _read(folded, status)
    except ProviderError as error:
        return error.partial
    calls = tuple(replace(call, arguments=None, fault="truncated") for call in reply.calls[-1:])
    quirks = tuple(quirk for quirk in reply.quirks if quirk not in {"finish_missing", "announced_call_missing"})
    changed = {"calls": (*reply.calls[:-1], *calls), "finish": None, "quirks": quirks}
    return reply.model_copy(update=changed)


def coalesced(body: bytes) -> bytes:
    """The same stream with neighbouring pieces of one text in one event, and nothing between them."""
    reader = EventReader()
    out: list[bytes] = []
    held: list[tuple[str, dict[str, JsonValue], list[str]]] = []

    def let_go() -> None:
        for _, sent, pieces in held:
            kind = str(_delta_of(sent)["type"])
            joined = whole_text(pieces)
            delta: dict[str, JsonValue] = {"type": kind, DELTA_FIELDS[kind][1]: joined}
            out.append(event_bytes({**sent, "delta": delta}, "content_block_delta"))
        held.clear()

    for event in reader.feed(body):
        sent = object_of(event)
        if sent is not None and held and sent == {"type": "ping"}:
            continue
        found = None if sent is None else _piece_of(sent)
        if sent is None or found is None:
            let_go()
            out.append(event_as_it_was(event))
            continue
        key, piece = found
        if held and held[0][0] != key:
            let_go()
        if held:
            held[0][2].append(piece)
        else:
            held.append((key, sent, [piece]))
    let_go()
    # an event without its empty line counts only where the stream was closed in order: it must stay without
    out += [event_as_it_was(event)[:-1] for event in reader.close()]
    # what has no event is no stream, and tells in its own way what it is
    return b"".join(out) or body


def _delta_of(sent: dict[str, JsonValue]) -> dict[str, JsonValue]:
    delta = sent.get("delta")
    return delta if isinstance(delta, dict) else {}


def _piece_of(sent: dict[str, JsonValue]) -> tuple[str, str] | None:
    """What pieces of one text have in common, and the piece; None for an event that is none."""
    delta = _delta_of(sent)
    _, source = DELTA_FIELDS.get(str(delta.get("type")), ("", ""))
    piece = delta.get(source)
    is_delta = sent["type"] == "content_block_delta" and delta.keys() == {"type", source}
    if not is_delta or not isinstance(piece, str) or sent.get("error") or oddities_of(sent):
        return None
    return canonical_json({**sent, "delta": delta["type"]}), piece
