"""Secrets that are cut over several strings of one JSON value: the events of a stream, the parts of a message.

Strings that stand at like places (the same pointer, positions in arrays not counted) are read as one text. An array
element that says its own ``index``, as streams with several choices do, is told apart by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import JsonValue

__all__ = ["scrub_joined"]

_Place = tuple[str | int, ...]
_Spans = Callable[[str], list[tuple[int, int]]]


def scrub_joined(value: JsonValue, spans: _Spans, mask: str) -> JsonValue:
    """The value without the secrets that ``spans`` finds in joined strings.

    ``mask`` takes the place where each begins; the rest of it, in the strings that follow, is taken out.
    """
    for by_index in (True, False):
        groups: dict[_Place, list[tuple[_Place, str]]] = {}
        for like, place, text in _strings(value, by_index=by_index):
            groups.setdefault(like, []).append((place, text))
        changed: dict[_Place, str] = {}
        for strings in groups.values():
            if len(strings) > 1:
                changed |= _cut(strings, spans, mask)
        if changed:
            value = _replaced(value, changed, ())
    return value


def _strings(
    value: JsonValue, *, by_index: bool, like: _Place = (), place: _Place = ()
) -> Iterator[tuple[_Place, _Place, str]]:
    if isinstance(value, str):
        yield like, place, value
    elif isinstance(value, list):
        for at, item in enumerate(value):
            own = item.get("index") if by_index and isinstance(item, dict) else None
            label = own if isinstance(own, int) else "*"
            yield from _strings(item, by_index=by_index, like=(*like, label), place=(*place, at))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, by_index=by_index, like=(*like, key), place=(*place, key))


def _cut(strings: list[tuple[_Place, str]], spans: _Spans, mask: str) -> dict[_Place, str]:
    """New texts for the strings that secrets run over; those inside one string are not ours to find."""
    found = spans("".join(text for _, text in strings))
    changed: dict[_Place, str] = {}
    offset = 0
    for place, text in strings:
        end, pieces, at = offset + len(text), [], offset
        for start, stop in found:
            if start < end and stop > offset:
                pieces += [text[at - offset : max(start, offset) - offset], mask if start >= offset else ""]
                at = min(stop, end)
        if pieces:
            changed[place] = "".join([*pieces, text[at - offset :]])
        offset = end
    return changed


def _replaced(value: JsonValue, changed: dict[_Place, str], place: _Place) -> JsonValue:
    if isinstance(value, str):
        return changed.get(place, value)
    if isinstance(value, list):
        return [_replaced(item, changed, (*place, at)) for at, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _replaced(item, changed, (*place, key)) for key, item in value.items()}
    return value
