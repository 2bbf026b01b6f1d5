"""The events of a streamed response, folded into the response object that would have come whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from harness.errors import ProviderError
from harness.providers._responses.items import OUTPUT, is_call
from harness.providers._wire.answer import as_object, bad, word
from harness.providers._wire.events import Event, object_of, whole_text
from harness.providers._wire.failures import failure_inside
from harness.providers._wire.strict_json import oddities_of
from harness.schema.base import JsonValue
from harness.schema.message import Quirk

__all__ = ["Folded", "Sent", "Slot", "fold", "is_last", "piece_of", "take"]

Sent: TypeAlias = dict[str, JsonValue]

#: Event -> what its piece goes on with: the list of an item and the kind of part in it, or the arguments of a call.
_PIECES: Final = {
    "response.output_text": ("content", "output_text"),
    "response.refusal": ("content", "refusal"),
    "response.reasoning_text": ("content", "reasoning_text"),
    "response.reasoning_summary_text": ("summary", "summary_text"),
    "response.function_call_arguments": ("arguments", ""),
}
#: What gateways end a stream with.
DONE: Final = b"[DONE]"
#: The field of a ``done`` event, and of a part, that holds the text.
_FIELDS: Final = {"refusal": "refusal", "": "arguments"}
_INDEX: Final = {"content": "content_index", "summary": "summary_index"}
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a piece of text belongs: the item by its place, the list in it, the kind of part, and its index there."""

    place: int
    list_: str
    kind: str
    index: int


@dataclass(slots=True)
class Folded:
    """A stream so far.

    ``items`` as they were begun, or as they are once they are done; ``pieces`` as they came, ``texts`` as they were
    told whole. ``response`` is the last one told, ``ended`` says that it is the answer, ``error`` why reading stopped.
    """

    response: Sent = field(default_factory=dict)
    items: dict[int, Sent] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    pieces: dict[Slot, list[str]] = field(default_factory=dict)
    texts: dict[Slot, str] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    quirks: set[Quirk] = field(default_factory=set)
    ended: bool = False
    error: ProviderError | None = None

    @property
    def has_begun(self) -> bool:
        """Whether a part of an answer had come."""
        return bool(self.items or self.pieces or self.texts)

    @property
    def body(self) -> Sent:
        """The same as a whole answer. What the last response says counts; some servers leave its output empty there."""
        output = self.response.get(OUTPUT)
        if isinstance(output, list) and output:
            return {**self.response, OUTPUT: [self._told(place, item) for place, item in enumerate(output)]}
        if output or not self.has_begun:
            return self.response
        told: dict[int, list[tuple[Slot, str]]] = {place: [] for place in self.items}
        for slot in self.pieces | self.texts:
            text = self.texts[slot] if slot in self.texts else whole_text(self.pieces[slot])
            told.setdefault(slot.place, []).append((slot, text))
        return {**self.response, OUTPUT: [self._item(place, told[place]) for place in sorted(told)]}

    def _item(self, place: int, told: list[tuple[Slot, str]]) -> Sent:
        item = dict(self.items.get(place, {}))
        if place in self.done:
            return self._filled(place, item)
        item["status"] = "in_progress"
        added: dict[str, list[JsonValue]] = {}
        for slot, text in sorted(told, key=lambda pair: pair[0].index):
            if slot.list_ == "arguments":
                item.setdefault("type", "function_call")
                item["arguments"] = text
                continue
            is_thought = slot.kind in {"reasoning_text", "summary_text"}
            item.setdefault("type", "reasoning" if is_thought else "message")
            added.setdefault(slot.list_, []).append({"type": slot.kind, _FIELDS.get(slot.kind, "text"): text})
        for name, parts in added.items():
            given = item.get(name)
            item[name] = [*(given if isinstance(given, list) else []), *parts]
        return item

    def _told(self, place: int, item: JsonValue) -> JsonValue:
        if not isinstance(item, dict):
            return item
        id_ = word(item.get("id"))
        return self._filled(place if id_ is None else self.ids.get(id_, place), item)

    def _filled(self, place: int, item: Sent) -> Sent:
        """An item that is done, with the arguments that were told for it where it has none itself."""
        slot, own = Slot(place, "arguments", "", 0), item.get("arguments")
        if not is_call(item) or (own is not None and (not isinstance(own, str) or own.strip())):
            return item
        told = self.texts.get(slot) or whole_text(self.pieces.get(slot, ()))
        return {**item, "arguments": told} if told.strip() else item


def is_last(event: Event) -> bool:
    """Whether nothing that follows this event is read: the end, an error, or what cannot be read."""
    if event.data.strip() == DONE:
        return True
    sent = object_of(event)
    return sent is None or sent["type"] in _ENDS or failure_inside(sent, 200) is not None


def fold(events: list[Event], status: int) -> Folded:
    """What these events come to, as far as they can be read."""
    folded = Folded()
    for event in events:
        if event.data.strip() == DONE:  # whether the answer's own end came is known by then
            break
        sent = object_of(event)
        folded.error = bad("a damaged event", status) if sent is None else take(folded, sent, status)
        if folded.error is not None or folded.ended:
            break
    return folded


def take(folded: Folded, sent: Sent, status: int) -> ProviderError | None:
    """One event more; gives the failure that it tells."""
    kind = str(sent["type"])
    failure = failure_inside(sent, status)
    if failure is not None:
        return failure
    folded.quirks.update(oddities_of(sent))
    found = piece_of(folded, sent)
    if found is not None:
        slot, piece = found
        folded.pieces.setdefault(slot, []).append(piece)
        return None
    if kind.endswith(".done") and kind.removesuffix(".done") in _PIECES:
        slot = _slot(folded, sent, "done")
        whole = sent.get(_FIELDS.get(slot.kind, "text"))
        if isinstance(whole, str):
            folded.texts[slot] = whole
        return None
    if kind in {"response.output_item.added", "response.output_item.done"}:
        return _item(folded, sent, kind, status)
    return _response(folded, sent, kind, status)


def _item(folded: Folded, sent: Sent, kind: str, status: int) -> ProviderError | None:
    item, place = sent.get("item"), _place(folded, sent)
    if not isinstance(item, dict):
        return bad("an item that is no object", status)
    if kind.endswith(".done"):
        folded.items[place] = item
        folded.done.add(place)
    elif place not in folded.done:
        folded.items[place] = item
    return None


def _response(folded: Folded, sent: Sent, kind: str, status: int) -> ProviderError | None:
    """An event that holds the whole response so far; one of a kind that we do not know says nothing."""
    response = sent.get("response")
    if kind in _ENDS:
        if not isinstance(response, dict):
            return bad("a stream that ends with no response", status)
        folded.ended = True
        is_failed = kind in {"response.failed", "response.cancelled"}
        folded.response = {**response, "status": "failed"} if is_failed else response
    elif kind in {"response.created", "response.in_progress"}:
        folded.response = {key: value for key, value in as_object(response).items() if key in {"id", "model", "usage"}}
    return None


def piece_of(folded: Folded, sent: Sent) -> tuple[Slot, str] | None:
    """Where the piece of text of an event belongs, and the piece; None for an event that brings none."""
    kind, piece = str(sent["type"]), sent.get("delta")
    if not kind.endswith(".delta") or kind.removesuffix(".delta") not in _PIECES or not isinstance(piece, str):
        return None
    return _slot(folded, sent, "delta"), piece


def _slot(folded: Folded, sent: Sent, ending: Literal["delta", "done"]) -> Slot:
    list_, kind = _PIECES[str(sent["type"]).removesuffix(f".{ending}")]
    index = sent.get(_INDEX.get(list_, ""))
    number = index if isinstance(index, int) and not isinstance(index, bool) else 0
    return Slot(_place(folded, sent), list_, kind, number)


def _place(folded: Folded, sent: Sent) -> int:
    """The place of the item that an event speaks of; where it names none, that of its id."""
    index = sent.get("output_index")
    id_ = word(sent.get("item_id")) or word(as_object(sent.get("item")).get("id")) or ""
    if isinstance(index, int) and not isinstance(index, bool):
        folded.ids.setdefault(id_, index)
        return index
    return folded.ids.setdefault(id_, len(folded.ids))
