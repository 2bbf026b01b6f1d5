"""From the events of a messages stream to the body that would have been sent whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from harness.errors import ProviderError
from harness.providers._anthropic.content import Block
from harness.providers._wire.answer import as_object, bad, word
from harness.providers._wire.arguments import value_of
from harness.providers._wire.events import Event, object_of, whole_text
from harness.providers._wire.failures import failure_inside
from harness.providers._wire.strict_json import oddities_of
from harness.schema.base import JsonValue
from harness.schema.message import Quirk

__all__ = ["DELTA_FIELDS", "Folded", "fold", "is_last"]

#: Delta -> the field of a block that it goes on with, and the field of the delta that holds the piece.
DELTA_FIELDS: Final[dict[str, tuple[str, str]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("input", "partial_json"),
}


@dataclass(slots=True)
class Folded:
    """A stream so far. ``texts`` holds arguments as they were streamed, by the position of their block.

    ``open`` are the positions of the blocks that are not closed. ``ended`` says that the last event came, ``stopped``
    that the reason of the end did and no block is open, ``counted`` that the final usage came; ``error`` is why
    reading stopped.
    """

    body: dict[str, JsonValue] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    quirks: set[Quirk] = field(default_factory=set)
    open: set[int] = field(default_factory=set)
    ended: bool = False
    stopped: bool = False
    counted: bool = False
    error: ProviderError | None = None


@dataclass(slots=True)
class _State:
    """Pieces by block and field, citations by block, and which block an index means."""

    pieces: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    positions: dict[int, int] = field(default_factory=dict)
    citations: dict[int, list[JsonValue]] = field(default_factory=dict)


def is_last(event: Event) -> bool:
    """Whether nothing is to come after this event: the message's end, an error, or what other dialects end with."""
    if event.data.strip() == b"[DONE]":
        return True
    value = object_of(event)
    return value is None or value["type"] == "message_stop" or failure_inside(value, 200) is not None


def fold(events: list[Event], status: int) -> Folded:
    """The body that these events make together, as far as they can be read."""
    folded, state = Folded(), _State()
    for event in events:
        folded.error = _take(folded, state, event, status)
        if folded.error is not None or is_last(event):
            break
    for (position, name), pieces in state.pieces.items():
        _put(folded, position, name, whole_text(pieces))
    for position, citations in state.citations.items():
        given = folded.blocks[position].get("citations")
        folded.blocks[position]["citations"] = [*(given if isinstance(given, list) else []), *citations]
    folded.stopped = word(folded.body.get("stop_reason")) is not None and not folded.open
    folded.body["content"] = [*folded.blocks]
    return folded


def _take(folded: Folded, state: _State, event: Event, status: int) -> ProviderError | None:
    if event.data.strip() == b"[DONE]":
        folded.ended = True
        return None
    sent = object_of(event)
    if sent is None:
        return bad("a damaged event", status)
    failure = failure_inside(sent, status)
    if failure is not None:
        return failure
    folded.quirks.update(oddities_of(sent))
    known = _KNOWN.get(str(sent["type"]))
    return None if known is None else known(folded, state, sent, status)


def _start(folded: Folded, _state: _State, sent: dict[str, JsonValue], status: int) -> ProviderError | None:
    message = sent.get("message")
    if not isinstance(message, dict):
        return bad("a stream that begins with no message", status)
    folded.body = {**message, **{key: value for key, value in folded.body.items() if key not in message}}
    return None


def _block(folded: Folded, state: _State, sent: dict[str, JsonValue], status: int) -> ProviderError | None:
    block, index = sent.get("content_block"), sent.get("index")
    if not isinstance(block, dict):
        return bad("a block that is no object", status)
    position = len(folded.blocks)
    folded.blocks.append(dict(block))
    folded.open.add(position)
    if not isinstance(index, int) or isinstance(index, bool):
        folded.quirks.add("missing_index")
        return None
    if index in state.positions:
        folded.quirks.add("index_reused")
    state.positions[index] = position
    return None


def _position(folded: Folded, state: _State, sent: dict[str, JsonValue]) -> int | None:
    """The block that an event speaks of: the last one where it does not say; None where there is none."""
    index = sent.get("index")
    if isinstance(index, int) and not isinstance(index, bool):
        return state.positions.get(index)
    return len(folded.blocks) - 1 if folded.blocks else None


def _delta(folded: Folded, state: _State, sent: dict[str, JsonValue], status: int) -> ProviderError | None:
    position, delta = _position(folded, state, sent), as_object(sent.get("delta"))
    if position is None:
        return bad("a part of a block that was not begun", status)
    if not isinstance(sent.get("index"), int):
        folded.quirks.add("missing_index")
    if delta.get("type") == "citations_delta" and delta.get("citation") is not None:
        state.citations.setdefault(position, []).append(delta["citation"])
        return None
    name, source = DELTA_FIELDS.get(str(delta.get("type")), ("", ""))
    piece = delta.get(source)
    if not name or piece is None:
        return None
    if not isinstance(piece, str):
        return bad("a piece of text that is no text", status)
    state.pieces.setdefault((position, name), []).append(piece)
    return None


def _put(folded: Folded, position: int, name: str, whole: str) -> None:
    block = folded.blocks[position]
    if name == "input":
        if whole.strip():
            block[name], folded.texts[position] = value_of(whole), whole
        return
    before = block.get(name)
    block[name] = f"{before if isinstance(before, str) else ''}{whole}"


def _close(folded: Folded, state: _State, sent: dict[str, JsonValue], _status: int) -> None:
    position = _position(folded, state, sent)
    if not isinstance(sent.get("index"), int):
        folded.quirks.add("missing_index")
    if position is not None:
        folded.open.discard(position)


def _end(folded: Folded, _state: _State, sent: dict[str, JsonValue], _status: int) -> None:
    """Counts of the end replace those of the beginning: they are sums, not additions."""
    folded.body |= {key: value for key, value in as_object(sent.get("delta")).items() if value is not None}
    usage = {key: value for key, value in as_object(sent.get("usage")).items() if value is not None}
    if usage:
        folded.counted = True
        folded.body["usage"] = {**as_object(folded.body.get("usage")), **usage}


def _over(folded: Folded, _state: _State, _sent: dict[str, JsonValue], _status: int) -> None:
    folded.ended = True


_Handler = Callable[[Folded, _State, dict[str, JsonValue], int], ProviderError | None]
_KNOWN: Final[dict[str, _Handler]] = {
    "message_start": _start,
    "content_block_start": _block,
    "content_block_delta": _delta,
    "content_block_stop": _close,
    "message_delta": _end,
    "message_stop": _over,
}
