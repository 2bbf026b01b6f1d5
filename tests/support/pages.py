"""The pages of this repository: their fenced blocks, and the commands that a reader would type.

In a ``console`` block a line ``$ COMMAND`` is typed and the lines under it are its output; ``...`` alone stands for
lines that are not shown. Every line of an ``sh`` block is typed. A command ends with 0 unless ``$ echo $?`` follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "DOCS",
    "PAGES",
    "README",
    "REPOSITORY",
    "SCENARIO_PAGES",
    "Typed",
    "blocks",
    "commands",
    "fences",
    "prose",
    "shell_commands",
]

REPOSITORY = Path(__file__).resolve().parent.parent.parent
README = REPOSITORY / "README.md"
DOCS = sorted((REPOSITORY / "docs").glob("*.md"))
PAGES = [README, REPOSITORY / "CHANGELOG.md", *DOCS, *sorted(REPOSITORY.glob("[a-z]*/README.md"))]
#: Their blocks, one after the other, are one scenario file.
SCENARIO_PAGES = (REPOSITORY / "docs" / "scenarios.md", REPOSITORY / "docs" / "rules.md")

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def fences(page: Path) -> list[tuple[str, str]]:
    """Language and body of every fenced block, in order."""
    return [(found[1], found[2]) for found in _FENCE.finditer(page.read_text("utf-8"))]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


class Typed(NamedTuple):
    """One command of a page: what is typed, what is to be printed (None: anything), and how it is to end."""

    text: str
    printed: str | None
    code: int


def blocks(page: Path, *languages: str) -> Iterator[str]:
    """The fenced blocks of a page in these languages, in order."""
    yield from (body for language, body in fences(page) if language in languages)


def commands(page: Path) -> list[Typed]:
    """Every command of a page, in order."""
    found: list[Typed] = []
    for language, body in fences(page):
        if language == "sh":
            found += [Typed(text, None, 0) for text in shell_commands(body)]
        elif language == "console":
            for chunk in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                text, _, printed = chunk.partition("\n")
                if text == "echo $?":
                    found[-1] = found[-1]._replace(code=int(printed))
                found.append(Typed(text, printed, 0))
    return found


def shell_commands(body: str) -> Iterator[str]:
    """The commands of an ``sh`` block: a line each, with the lines of its here-document."""
    lines = iter(body.splitlines())
    for line in lines:
        text = line
        if re.search(r"<<'END'$", line):
            for more in lines:
                text += f"\n{more}"
                if more == "END":
                    break
        yield f"{text}\n"
