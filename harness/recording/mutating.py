"""Every small change that a recording could have suffered: what a drift check must notice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from pydantic import ValidationError

from harness.recording.codec import reseal
from harness.recording.keys import answer_key, embedded, exchange_key, succeeded
from harness.recording.matching import LINE, place_of
from harness.schema.base import JsonValue
from harness.schema.recording import Exchange, PlaneAnswer, Recording, RecordingHeader

__all__ = ["INFORMATIVE", "Mutation", "Way", "mutations"]

#: Places of the header that only tell what a recording is: nothing now can be compared with them. The seal covers them.
INFORMATIVE: Final = frozenset(
    {
        "/line",
        "/format",
        "/trial",
        "/provenance",
        "/actor/ref",
        "/actor/kind",
        "/actor/provider",
        "/actor/digest",
    }
)
#: Statuses that take the place of one that is a success, and of one that is none.
_FAILED: Final = 500
_SUCCEEDED: Final = 200

Way = Literal["changed", "removed", "duplicated", "swapped", "reordered"]
_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change and the recording that holds it, keyed anew.

    ``exchange`` or ``step`` says where; neither: in the header.
    """

    way: Way
    pointer: str
    recording: Recording
    exchange: int | None = None
    step: int | None = None


def mutations(recording: Recording) -> Iterator[Mutation]:
    """All mutations: every leaf of what is compared, every array, every order.

    Compared are the header but for ``INFORMATIVE``, every request whole, whether each reply's status is a success, and
    every plane answer whole. A text inside a request's body that is itself JSON is gone through too, but for the
    declared volatile pointers. What a reply holds is not compared: it is played, and shows in what is asked next.
    """
    yield from _of_header(recording)
    volatile = recording.header.volatile
    for position, exchange in enumerate(recording.exchanges):
        for way, at, body in _everywhere(exchange.request.body, volatile):
            yield Mutation(way, at, _with_request(recording, position, {"body": body}), exchange=exchange.number)
        yield from _beside_body(recording, position)
    for position, answer in enumerate(recording.answers):
        for way, at, value in _everywhere(answer.answer, None):
            yield Mutation(way, at, _with_answer(recording, position, {"answer": value}), step=answer.step)
        facts: dict[str, JsonValue] = {"kind": answer.kind, "exit_code": answer.exit_code, "step": answer.step}
        for name, value in facts.items():
            changed = _with_answer(recording, position, {name: _other(value)})
            yield Mutation("changed", f"{LINE}/{name}", changed, step=answer.step)


def _of_header(recording: Recording) -> Iterator[Mutation]:
    fields: JsonValue = recording.header.model_dump(mode="json")
    for way, at, changed in _everywhere(fields, None):
        if at in INFORMATIVE:
            continue
        try:
            header = RecordingHeader.model_validate(changed, strict=False)
        except ValidationError:
            continue  # what no header can be, the reader refuses
        if header != recording.header:
            yield Mutation(way, f"{LINE}{at}", reseal(recording.model_copy(update={"header": header})))


def _beside_body(recording: Recording, position: int) -> Iterator[Mutation]:
    """What an exchange holds besides its request's body."""
    exchange = recording.exchanges[position]
    request, status = exchange.request, exchange.response.status
    for name, text in {"method": request.method, "path": request.path}.items():
        changed = _with_request(recording, position, {name: f"{text}x"})
        yield Mutation("changed", f"{LINE}/request/{name}", changed, exchange=exchange.number)
    headers: JsonValue = {**request.headers}
    for way, at, value in _everywhere(headers, None):
        changed = _with_request(recording, position, {"headers": value})
        yield Mutation(way, f"{LINE}/request/headers{at}", changed, exchange=exchange.number)
    answered = exchange.response.model_copy(update={"status": _FAILED if succeeded(status) else _SUCCEEDED})
    changed = _with_exchange(recording, position, exchange.model_copy(update={"response": answered}))
    yield Mutation("changed", f"{LINE}/response/status", changed, exchange=exchange.number)


def _with_request(recording: Recording, position: int, update: dict[str, JsonValue]) -> Recording:
    old = recording.exchanges[position]
    changed = old.model_copy(update={"request": old.request.model_copy(update=update)})
    key = exchange_key(changed, recording.header.volatile)
    return _with_exchange(recording, position, changed.model_copy(update={"key": key}))


def _with_exchange(recording: Recording, position: int, changed: Exchange) -> Recording:
    exchanges = (*recording.exchanges[:position], changed, *recording.exchanges[position + 1 :])
    return recording.model_copy(update={"exchanges": exchanges})


def _with_answer(recording: Recording, position: int, update: dict[str, JsonValue]) -> Recording:
    changed = recording.answers[position].model_copy(update=update)
    keyed = changed.model_copy(update={"key": answer_key(changed.kind, changed.exit_code, changed.answer)})
    answers = (*recording.answers[:position], keyed, *recording.answers[position + 1 :])
    return recording.model_copy(update={"answers": answers})


def _orders(recording: Recording) -> Iterator[Mutation]:
    """Neighbours that differ, each pair in the other order; numbers and steps stay in their places."""
    exchanges, answers = recording.exchanges, recording.answers
    for position, (one, other) in enumerate(pairwise(exchanges)):
        if one.key != other.key:
            first: Exchange = other.model_copy(update={"number": one.number})
            second: Exchange = one.model_copy(update={"number": other.number})
            swapped = (*exchanges[:position], first, second, *exchanges[position + 2 :])
            yield Mutation("reordered", "", recording.model_copy(update={"exchanges": swapped}), exchange=one.number)
    for position, (left, right) in enumerate(pairwise(answers)):
        if left.key != right.key:
            early: PlaneAnswer = right.model_copy(update={"step": left.step})
            late: PlaneAnswer = left.model_copy(update={"step": right.step})
            turned = (*answers[:position], early, late, *answers[position + 2 :])
            yield Mutation("reordered", "", recording.model_copy(update={"answers": turned}), step=left.step)


def _everywhere(value: JsonValue, volatile: Sequence[str] | None) -> Iterator[tuple[Way, str, JsonValue]]:
    """Each mutation of a document with its pointer; ``volatile`` None: texts are not looked into."""
    for path, part in _parts(value, ()):
        for way, at, replacement in _of_part(path, part):
            yield way, at, replacement(value)
        inner = embedded(part) if volatile is not None and isinstance(part, str) else None
        if inner is None or volatile is None:
            continue
        for way, at, changed in _everywhere(inner, None):
            if not any(at == place or at.startswith(place + "/") for place in volatile):
                text = json.dumps(changed, ensure_ascii=False)
                yield way, f"{place_of(path)}#{at}", _set(value, path, text)


def _parts(value: JsonValue, path: _Path) -> Iterator[tuple[_Path, JsonValue]]:
    """Every part of a document with its path, the document itself first."""
    yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _parts(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _parts(item, (*path, number))


def _of_part(path: _Path, part: JsonValue) -> Iterator[tuple[Way, str, Callable[[JsonValue], JsonValue]]]:
    at = place_of(path)
    if not isinstance(part, dict | list) or not part:
        yield "changed", at, lambda whole: _set(whole, path, _other(part))
        if path:
            yield "removed", at, lambda whole: _remove(whole, path)
    if isinstance(part, list):
        for number, item in enumerate(part):
            where = place_of((*path, number))
            yield "duplicated", where, _setting(path, [*part[: number + 1], item, *part[number + 1 :]])
            if number + 1 < len(part) and item != part[number + 1]:
                turned = [*part[:number], part[number + 1], item, *part[number + 2 :]]
                yield "swapped", where, _setting(path, turned)


def _setting(path: _Path, value: JsonValue) -> Callable[[JsonValue], JsonValue]:
    return lambda whole: _set(whole, path, value)


def _other(leaf: JsonValue) -> JsonValue:
    """A different value, of the same sort where there is one."""
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, str):
        return leaf + "x"
    if isinstance(leaf, int | float):
        return leaf + 1
    if isinstance(leaf, list):
        return [None]
    return {"": None} if isinstance(leaf, dict) else 0


def _set(whole: JsonValue, path: _Path, value: JsonValue) -> JsonValue:
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(whole, dict) and isinstance(step, str):
        return {**whole, step: _set(whole[step], rest, value)}
    if isinstance(whole, list) and isinstance(step, int):
        return [*whole[:step], _set(whole[step], rest, value), *whole[step + 1 :]]
    return whole


def _remove(whole: JsonValue, path: _Path) -> JsonValue:
    step, rest = path[0], path[1:]
    if isinstance(whole, dict) and isinstance(step, str):
        if not rest:
            return {key: item for key, item in whole.items() if key != step}
        return {**whole, step: _remove(whole[step], rest)}
    if isinstance(whole, list) and isinstance(step, int):
        kept = [] if not rest else [_remove(whole[step], rest)]
        return [*whole[:step], *kept, *whole[step + 1 :]]
    return whole
