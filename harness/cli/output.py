"""Standard output and error: whole lines, and a reader that goes away harms nothing."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence

import click

from harness.errors import EnvironmentProblem
from harness.schema.base import JsonValue

__all__ = ["colored", "note", "say", "say_json", "table", "width"]


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
    say(json.dumps(value, indent=indent, sort_keys=False))


def note(text: str) -> None:
    """One line for the person who waits, on standard error."""
    with contextlib.suppress(OSError, ValueError):
        click.echo(text, err=True)


def width() -> int:
    """Columns of the terminal, 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def colored(environ: Mapping[str, str]) -> bool:
    """Whether standard output is a terminal that wants colour (``NO_COLOR``, ``TERM=dumb``)."""
    return (
        sys.stdout is not None and sys.stdout.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns under headings, each as wide as its widest cell; the last is never padded and nothing is cut off."""
    cells = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def _silence() -> None:
    """Send what is still to be printed nowhere; the descriptor stays valid for the interpreter's own last flush."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, sys.stdout.fileno())
        os.close(descriptor)
