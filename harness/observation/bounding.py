"""A text within its bounds: head, mark, tail; and what was left out, counted (runner specification 2.11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.observation.measuring import Measured
from harness.schema.observation import Channel

__all__ = ["Room", "Shown", "bound", "bound_error", "exceeds"]

#: Longest error that is shown, in UTF-8 bytes.
ERROR_BYTES = 4_096
_ERROR_MARK = " [cut]"


@dataclass(frozen=True, slots=True)
class Room:
    """How many characters are shown of one section (what one stream printed) and of a whole result."""

    section: int
    result: int


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown; its numbers count no marks, its ``length`` (as the text is measured) does."""

    text: str
    channel: Channel
    length: int


@dataclass(frozen=True, slots=True)
class _Gap:
    """Positions of what is left out, and what stands there instead."""

    start: int
    end: int
    mark: str


def exceeds(text: Measured, sections: Sequence[int], room: Room) -> bool:
    """Whether anything must be left out."""
    return text.length > room.result or any(_sections(text, sections, room))


def bound(text: Measured, sections: Sequence[int], room: Room, note: Callable[[int], str]) -> Shown:
    """Head and tail of each section that is too long, and of the whole where that is too long still.

    ``sections`` are the lengths of the text's parts, in order. ``note`` says where the full text is, and from which
    offset a reader goes on; it is asked once more for the largest offset, for no note may be longer than that one.
    """
    gaps = [_gap(text, start, end, room.section, note, share=2) for start, end in _sections(text, sections, room)]
    if _length(text, gaps) > room.result:
        gaps = [_gap(text, 0, len(text.text), room.result, note)]
    parts, position, dropped = [], 0, 0
    for gap in gaps:
        parts += [text.text[position : gap.start], gap.mark]
        position, dropped = gap.end, dropped + text.offset(gap.end) - text.offset(gap.start)
    shown = "".join([*parts, text.text[position:]])
    return Shown(shown, Channel.counted(text.length, text.length - dropped, "chars"), _length(text, gaps))


def bound_error(text: str, room: int) -> Shown:
    """An error of ours: at most 4,096 bytes of UTF-8 and ``room`` characters, cut at its end."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= ERROR_BYTES and len(text) <= room:
        return Shown(text, Channel.counted(len(data), len(data), "bytes"), len(text))
    mark = _ERROR_MARK[: max(room, 0)]
    kept = data[: ERROR_BYTES - len(mark)].decode("utf-8", "ignore")[: max(room - len(mark), 0)]
    return Shown(kept + mark, Channel.counted(len(data), len(kept.encode()), "bytes"), len(kept + mark))


def _sections(text: Measured, lengths: Sequence[int], room: Room) -> Iterator[tuple[int, int]]:
    """Start and end of each section that is too long. Where one may be as long as the whole, none is."""
    if room.section >= room.result:
        return
    start = 0
    for length in lengths or (len(text.text),):
        end = start + length
        if text.offset(end) - text.offset(start) > room.section:
            yield start, end
        start = end


def _length(text: Measured, gaps: Sequence[_Gap]) -> int:
    left_out = sum(text.offset(gap.end) - text.offset(gap.start) for gap in gaps)
    return text.length - left_out + sum(len(gap.mark) for gap in gaps)


def _gap(  # noqa: PLR0917  (a range, its bound, and how both are told)
    text: Measured, start: int, end: int, limit: int, note: Callable[[int], str], share: int = 1
) -> _Gap:
    """What is left out between two positions so that ``limit`` characters stay, the mark included.

    ``share`` 2 keeps a half as head and a third as tail at most, 1 fills the bound.
    """
    first, last = text.offset(start), text.offset(end)
    room = limit - len(_mark(text.length, text.length, note(text.length)))
    if room < 0:
        return _Gap(start, end, _mark(last - first, text.length, "The full text does not fit here")[: max(limit, 0)])
    head = room * 6 // 10
    tail = room - head
    if share > 1:
        head, tail = min(head, limit // 2), min(tail, limit // 3)
    begin = max(text.before(first + head), start)
    finish = min(text.after(last - tail), end)
    left_out = text.offset(finish) - text.offset(begin)
    return _Gap(begin, finish, _mark(left_out, text.length, note(text.offset(begin))))


def _mark(left_out: int, whole: int, note: str) -> str:
    return f"\n[{left_out} of {whole} characters are left out here. {note}. Do not infer what is missing.]\n"
