"""Standard output and error: whole lines, and a reader that goes away harms nothing."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence

import click

from harness.errors import EnvironmentProblem
from harness.schema.base import JsonValue

__all__ = ["colored", "folded", "harmless", "note", "on_terminal", "say", "say_json", "table", "width"]

#: Columns that a folded text has at least, however narrow the terminal is.
_NARROWEST = 16
#: Before what has no room beside the other columns of its row.
_BELOW = "  "


def say(text: str) -> None:
    """One text and a line end on standard output, flushed.

    Where nobody reads (any more), nothing is printed and the command goes on to its own exit code. Raises
    EnvironmentProblem where standard output cannot be written for another reason.
    """
    stream = sys.stdout
    if stream is None:
        return
    try:
        data = f"{text}\n".encode("utf-8", "backslashreplace")
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError:
        _silence()
    except OSError as error:
        _silence()
        raise EnvironmentProblem(
            f"standard output cannot be written: {error.strerror or 'input/output error'}"
        ) from None


def say_json(value: JsonValue, *, indent: int | None = None) -> None:
    """One JSON value in ASCII, so that no locale and no odd character can break it; one line unless indented."""
    say(json.dumps(value, indent=indent, sort_keys=False, allow_nan=False))


def note(text: str) -> None:
    """One line for the person who waits, on standard error."""
    with contextlib.suppress(OSError, ValueError):
        click.echo(harmless(text), err=True)


def harmless(text: str) -> str:
    """Without characters that act on a terminal: files of strangers and names may hold them."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)


def width() -> int:
    """Columns of the terminal, 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def on_terminal() -> bool:
    """Whether a person reads standard output as it is printed."""
    return sys.stdout is not None and sys.stdout.isatty()


def colored(environ: Mapping[str, str]) -> bool:
    """Whether standard output is a terminal that wants colour (``NO_COLOR``, ``TERM=dumb``)."""
    return (
        sys.stdout is not None and sys.stdout.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    )


def folded(text: str, indent: str = "") -> str:
    """Each line indented and folded at blanks to the terminal's width; not folded where no person reads."""
    lines = harmless(text).splitlines()
    if not on_terminal():
        return "\n".join(f"{indent}{line}" for line in lines)
    room = max(width(), len(indent) + _NARROWEST)
    fold = textwrap.TextWrapper(
        room, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(fold.fill(line) for line in lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns under headings, each as wide as its widest cell; nothing is cut off.

    On a terminal the last one is folded, and where a word of it has no room it stands below the others.
    """
    cells = [tuple(head), *(tuple(map(harmless, row)) for row in rows)]
    *widths, _ = [max(len(row[column]) for row in cells) for column in range(len(head))]
    indent = " " * sum(wide + 2 for wide in widths)
    lines: list[str] = []
    longest = max(len(word) for *_, last in cells for word in ("", *last.split()))
    is_below = on_terminal() and len(indent) + longest > width()
    for *row, last in cells:
        start = "".join(f"{cell:<{wide}}  " for cell, wide in zip(row, widths, strict=True))
        if is_below:
            lines += [start.rstrip(" "), *([folded(last, _BELOW)] if last else [])]
            continue
        lines.append((start + folded(last, indent).removeprefix(indent)).rstrip(" "))
    return "\n".join(lines)


def _silence() -> None:
    """Send what is still to be printed nowhere; the descriptor stays valid for the interpreter's own last flush."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, sys.stdout.fileno())
        os.close(descriptor)
