"""Text laid out for a terminal of a given width, which nothing in it can act on."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from io import StringIO

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from harness.reporters._rows import plain

__all__ = ["fits", "indented", "paper", "safe", "unbroken", "whole", "written_on"]

_NARROWEST = 40
_TAB = 4
#: Between two columns of a table.
_APART = 2


def paper(width: int, *, color: bool) -> Console:
    """A console of ``width`` columns (at least 40) that keeps what is printed on it."""
    return Console(
        file=StringIO(),
        width=max(width, _NARROWEST),
        height=25,  # with a height of its own it asks neither terminal nor environment for a size
        color_system="standard" if color else None,
        force_terminal=color,
        no_color=not color,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )


def written_on(console: Console) -> str:
    """All that was printed on a ``paper``, without blanks at the ends of lines and without a final newline."""
    kept = console.file.getvalue() if isinstance(console.file, StringIO) else ""
    return "\n".join(line.rstrip() for line in kept.rstrip("\n").split("\n"))


def fits(console: Console, rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table of these cells, two columns apart, needs no line but one a row."""
    widest = (max(cell_len(plain(cell)) for cell in column) for column in zip(*rows, strict=True))
    return sum(width + _APART for width in widest) - _APART <= console.width


def safe(text: str) -> str:
    """A text of several lines, each plain."""
    return "\n".join(plain(line.expandtabs(_TAB)) for line in text.replace("\r\n", "\n").split("\n"))


def whole(console: Console, text: Text) -> None:
    """On one line, however long: what is copied from a terminal must not be broken."""
    console.print(text, soft_wrap=True)


def unbroken(console: Console, text: str, columns: int, *, label: str = "", hang: int = 0) -> None:
    """A text folded at blanks only behind a margin of so many columns: digests and pointers stay whole.

    ``label`` stands in the margin of the first line; what is folded has ``hang`` columns more.
    """
    for number, line in enumerate(safe(text).split("\n")):
        margin = " " * columns
        folded = textwrap.wrap(
            line,
            console.width,
            initial_indent=margin if number else f"{plain(label):<{columns}}",
            subsequent_indent=margin + " " * hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for piece in folded or [""]:
            whole(console, Text(piece))


def indented(console: Console, text: str, columns: int, style: str = "") -> None:
    """A text folded behind a margin of so many columns."""
    console.print(Padding(Text(safe(text), overflow="fold", style=style), (0, 0, 0, columns)))
