"""What a text is wrapped and escaped with, and the text without it: a secret that was cut by it is whole only there.

A break is white space, as it is or escaped for JSON (also nested), HTML or a URL. What may continue a line, a backslash
and ``=``, is one too, wherever it stands. Taking breaks out of a text takes time in proportion to its length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

__all__ = ["Unwrapped", "breaks", "unwrapped", "unwrapped_bytes"]

#: Codes of white space, of the equals sign and of the backslash.
_CODES = r"(?:0[9acdACD]|20|[aA]0|3[dD]|5[cC])"
#: The escapes; the same for texts and for bytes. No branch looks at a character twice.
_ESCAPES = (
    rf"\\++(?:[nrtf]|u00{_CODES})?+"
    rf"|%(?:25)*+(?:5[cC][nrtf]|{_CODES})"
    rf"|&(?:#0*+(?:9|1[0-3]|32|61|92|160)|#[xX]0*+(?:[9acdACD]|{_CODES})|nbsp|NewLine|Tab);"
)
#: White space, and characters of no width at which a text may be wrapped.
_BREAK = re.compile(rf"(?:[\s=\xad\u200b-\u200d\u2060\ufeff]|{_ESCAPES})+")
_ESCAPES_BYTES = re.compile(_ESCAPES.encode("ascii"))
_PLAIN_BYTES = b" \t\n\r\f\v=\\"


class Unwrapped:
    """A text without its breaks, and where each of its parts stood."""

    __slots__ = ("_kept", "_starts", "_whole", "text")

    def __init__(self, whole: str) -> None:
        """``whole`` is a text with breaks or without."""
        pieces: list[str] = []
        self._whole = whole
        self._kept: list[int] = []
        at = 0
        for start, end in (*breaks(whole), (len(whole), len(whole))):
            if start > at:
                self._kept.append(at)
                pieces.append(whole[at:start])
            at = end
        self._starts = [0, *accumulate(map(len, pieces))]
        self.text = "".join(pieces)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the whole text a part of this one stands, with what escapes its first character.

        ``end`` is behind ``start``.
        """
        first = self._place(start)
        while first and self._whole[first - 1] == "\\":
            first -= 1
        return first, self._place(end - 1) + 1

    def _place(self, at: int) -> int:
        piece = bisect_right(self._starts, at) - 1
        return self._kept[piece] + at - self._starts[piece]


def breaks(text: str) -> Iterator[tuple[int, int]]:
    """Where the breaks of a text are, in order; those in a row are one."""
    return (match.span() for match in _BREAK.finditer(text))


def unwrapped(text: str) -> str:
    """The text without its breaks."""
    return _BREAK.sub("", text)


def unwrapped_bytes(data: bytes) -> bytes:
    """The bytes without breaks; white space beyond ASCII stays."""
    return _ESCAPES_BYTES.sub(b"", data).translate(None, _PLAIN_BYTES)
