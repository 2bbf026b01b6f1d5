"""How long a text counts, and where it may be cut.

A path of the workspace counts as its name does, so that the same text is as long in every temporary directory, and is
never cut in two. Nor is what a reader sees as one character.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

__all__ = ["Measured", "Span"]

#: Start and end of a part of a text that counts as one piece, and how many characters it counts.
Span = tuple[int, int, int]

#: So many characters may hang on one; a longer chain is cut anywhere.
_CHAIN = 32
_JOINER = "\u200d"


class Measured:
    """A text with its ``spans``, sorted and apart. Positions are places in ``text``, offsets count from its start."""

    def __init__(self, text: str, spans: Sequence[Span] = ()) -> None:
        self.text = text
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._offsets: list[int] = []
        self._counts: list[int] = []
        shift = 0
        for start, end, counted in spans:
            self._starts.append(start)
            self._ends.append(end)
            self._offsets.append(start + shift)
            self._counts.append(counted)
            shift += counted - (end - start)
        self.length = len(text) + shift

    def offset(self, position: int) -> int:
        """The offset of a position; inside a span that of its start."""
        at = bisect_right(self._starts, position) - 1
        if at < 0:
            return position
        if position < self._ends[at]:
            return self._offsets[at]
        return self._offsets[at] + self._counts[at] + position - self._ends[at]

    def before(self, offset: int) -> int:
        """The last position at or before an offset where the text may be cut."""
        position = self._position(offset, up=False)
        for _ in range(_CHAIN):
            if not self._hangs(position):
                break
            position = self._snapped(position - 1, up=False)
        return position

    def after(self, offset: int) -> int:
        """The first position at or after an offset where the text may be cut."""
        position = self._position(offset, up=True)
        for _ in range(_CHAIN):
            if not self._hangs(position):
                break
            position = self._snapped(position + 1, up=True)
        return position

    def _position(self, offset: int, *, up: bool) -> int:
        at = bisect_right(self._offsets, offset) - 1
        if at < 0:
            return min(max(offset, 0), len(self.text))
        into = offset - self._offsets[at]
        if into == 0:
            return self._starts[at]
        if into < self._counts[at]:
            return self._ends[at] if up else self._starts[at]
        return min(self._ends[at] + into - self._counts[at], len(self.text))

    def _snapped(self, position: int, *, up: bool) -> int:
        """Out of the span that a position lies in."""
        at = bisect_right(self._starts, position) - 1
        if at >= 0 and self._starts[at] < position < self._ends[at]:
            return self._ends[at] if up else self._starts[at]
        return position

    def _hangs(self, position: int) -> bool:
        """Whether what follows a position belongs to the character before it."""
        if not 0 < position < len(self.text):
            return False
        left, right = self.text[position - 1], self.text[position]
        if "\udc00" <= right <= "\udfff":
            return "\ud800" <= left <= "\udbff"
        return _JOINER in {left, right} or unicodedata.category(right) in {"Mn", "Mc", "Me"}
