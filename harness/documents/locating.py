"""On which line of a TOML text each key and element stands; ``tomllib`` does not tell."""

from __future__ import annotations

import bisect
import contextlib
import itertools
import re
import tomllib
from pathlib import Path
from typing import Final

from harness.documents.files import DocumentError, decoded, read_file

__all__ = ["KeyPath", "line_in_file", "line_of", "lines"]

#: Leads to a place in a document: keys of tables, and indices of arrays from 0.
KeyPath = tuple[str | int, ...]

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY: Final = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_TEXT: Final = re.compile(
    r'''"""(?:[^\\]|\\.)*?"""(?:"{0,2})(?!")|"(?:[^"\\\n]|\\.)*"'''
    r"""|'''.*?'''(?:'{0,2})(?!')|'[^'\n]*'""",
    re.DOTALL,
)
_BARE: Final = re.compile(r"[^,\]}\n#]*")


def lines(text: str) -> dict[KeyPath, int]:
    """Line (from 1) of every key, table and array element of valid TOML; of any other text, as far as it goes."""
    scanner = _Scanner(text)
    with contextlib.suppress(_LostError):
        scanner.scan()
    return scanner.found


def line_of(found: dict[KeyPath, int], path: KeyPath) -> int:
    """Line of ``path``, or of the nearest thing around it that has one; 1 for the document itself.

    A table that is only named by headers of what is in it (``tool`` by ``[tool.ls]``) is where the first of them is.
    """
    for length in range(len(path), 0, -1):
        around = path[:length]
        if around in found:
            return found[around]
        if length == len(path):
            inside = [line for place, line in found.items() if place[:length] == around]
            if inside:
                return min(inside)
    return 1


def line_in_file(path: str, place: KeyPath) -> int | None:
    """Line of a place in a TOML file; None where the file cannot be read (any more)."""
    try:
        return line_of(lines(decoded(read_file(Path(path)))), place)
    except DocumentError:
        return None


class _LostError(Exception):
    """The text is no TOML from here on."""


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._last: dict[KeyPath, int] = {}
        self.found: dict[KeyPath, int] = {}

    def scan(self) -> None:
        table: KeyPath = ()
        self._skip()
        while self._at < len(self._text):
            table = self._header() if self._peek("[") else self._pair(table)
            self._skip()

    def _header(self) -> KeyPath:
        start, many = self._at, self._peek("[[")
        self._at += 2 if many else 1
        *outer, name = self._keys()
        table = (*self._inside(tuple(outer)), name)
        if many:
            self._note(table, start)
            self._last[table] = self._last.get(table, -1) + 1
        table = self._inside((*outer, name))
        self._note(table, start)
        self._skip()
        self._at += 2 if many else 1
        return table

    def _inside(self, keys: tuple[str, ...]) -> KeyPath:
        """The path of a header: where a name is an array of tables, its last element is meant."""
        path: KeyPath = ()
        for key in keys:
            path = (*path, key)
            if path in self._last:
                path = (*path, self._last[path])
        return path

    def _pair(self, table: KeyPath) -> KeyPath:
        start = self._at
        path = table
        for key in self._keys():
            path = (*path, key)
            self._note(path, start)
        self._skip()
        self._at += 1
        self._value(path)
        return table

    def _value(self, path: KeyPath) -> None:
        self._skip()
        if self._peek("["):
            self._array(path)
        elif self._peek("{"):
            self._inline(path)
        elif match := _TEXT.match(self._text, self._at) or _BARE.match(self._text, self._at):
            self._at = match.end()

    def _array(self, path: KeyPath) -> None:
        self._at += 1
        for index in itertools.count():
            if self._ends("]"):
                return
            if self._at >= len(self._text):
                raise _LostError
            self._note((*path, index), self._at)
            self._value((*path, index))

    def _inline(self, path: KeyPath) -> None:
        self._at += 1
        while not self._ends("}"):
            self._pair(path)

    def _ends(self, mark: str) -> bool:
        """Move over blanks and commas; at the closing mark move behind it."""
        self._skip()
        while self._peek(","):
            self._at += 1
            self._skip()
        if not self._peek(mark):
            return False
        self._at += 1
        return True

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._skip()
            match = _KEY.match(self._text, self._at)
            if match is None:
                raise _LostError
            self._at = match.end()
            keys.append(next(iter(tomllib.loads(f"{match[0]} = 0"))))
            self._skip()
            if not self._peek("."):
                return keys
            self._at += 1

    def _peek(self, mark: str) -> bool:
        return self._text.startswith(mark, self._at)

    def _skip(self) -> None:
        match = _BLANK.match(self._text, self._at)
        self._at = match.end() if match is not None else self._at

    def _note(self, path: KeyPath, offset: int) -> None:
        self.found.setdefault(path, bisect.bisect_right(self._starts, offset))
