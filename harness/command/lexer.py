r"""Splits a text into words like Python's ``shlex`` in POSIX mode, in linear time, remembering what was quoted.

Inside double quotes a backslash is dropped before ``"`` and ``\`` only (a shell drops it before ``$``, a back-tick
and a newline too): where the two readings differ the word says so by ``active`` or ``continued``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

__all__ = [
    "Word",
    "in_its_place",
    "program_name",
    "split_plan",
    "split_shell",
    "split_strict",
    "split_words",
    "trim_lines",
    "whole_number",
]

_PARTS = r"""
    (?P<single>'[^']*')
  | (?P<double>"[^"\\]*(?:\\.[^"\\]*)*")
  | (?P<escape>\\.)
  | (?P<blank>[{blank}]+)
  | (?P<operator>{operator})
  | (?P<comment>{comment})
  | (?P<run>[^'"\\{stop}]+)
"""
_NEVER = r"(?!)"


def _dialect(blank: str, operators: str = "", comment: str = "", stop: str = "") -> re.Pattern[str]:
    source = _PARTS.format(
        blank=blank,
        operator=f"[{operators}]+" if operators else _NEVER,
        comment=comment or _NEVER,
        stop=blank + operators + stop,
    )
    return re.compile(source, re.VERBOSE | re.DOTALL)


_WORDS = _dialect(r"\x20\t\r\n")
_SHELL = _dialect(r"\x20\t\r", r";&|<>\n")
_PLAN = _dialect(r"\x20\t\r", r";&|<>\n", r"\#[^\n]*\n?", r"\#")
_STRICT = _dialect(r"\x20\t", r";&|<>\n", r"(?<![^\x20\t\n;&|<>])\#[^\n]*")
#: Python refuses to convert longer texts where its limit is set to the minimum.
_DIGITS = 640
#: Directories whose programs are those that a bare name finds.
_PROGRAM_FOLDERS = frozenset({"", "/bin", "/usr/bin", "/usr/local/bin"})
#: Longest text whose words are remembered, in characters.
_SHORT = 1024
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Word:
    """One word after quote removal, or a run of operator characters (``operator``).

    ``bare`` are its characters that stood unquoted, ``lead`` those of them before any quote, ``active`` those in which
    a shell would still see ``$`` and back-ticks. ``continued``: a backslash stood before a line end. ``glued``: no
    blank stood before it.
    """

    text: str
    lead: str = ""
    bare: str = ""
    active: str = ""
    continued: bool = False
    operator: bool = False
    glued: bool = False


@dataclass(slots=True)
class _Draft:
    """A word while it is being read."""

    glued: bool
    lead: str = ""
    text: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    active: list[str] = field(default_factory=list)
    continued: bool = False

    def add(self, kind: str, part: str) -> None:
        if kind == "single":
            self.text.append(part[1:-1])
        elif kind == "double":
            self.text.append(_ESCAPED.sub(_unescape, part[1:-1]))
            self.active.append(_ESCAPED.sub(_disarm, part[1:-1]))
            self.continued |= "\n" in _ESCAPED.findall(part)
        elif kind == "escape":
            self.text.append(part[1])
            self.continued |= part[1] == "\n"
        else:
            self.lead = self.lead if self.text else part
            self.text.append(part)
            self.bare.append(part)
            self.active.append(part)

    def word(self) -> Word:
        return Word(
            text="".join(self.text),
            lead=self.lead,
            bare="".join(self.bare),
            active="".join(self.active),
            continued=self.continued,
            glued=self.glued,
        )


def _unescape(match: re.Match[str]) -> str:
    return match[1] if match[1] in '"\\' else match[0]


def _disarm(match: re.Match[str]) -> str:
    return "" if match[1] in '"\\' else match[0]


def _scan(text: str, dialect: re.Pattern[str]) -> tuple[Word, ...] | None:
    """Words of a text; short ones come again and again, from every trial and from each who reads a command."""
    return _scanned(text, dialect) if len(text) <= _SHORT else _scanned.__wrapped__(text, dialect)


@lru_cache(maxsize=1024)
def _scanned(text: str, dialect: re.Pattern[str]) -> tuple[Word, ...] | None:
    words: list[Word] = []
    draft: _Draft | None = None
    position, glued = 0, False
    while position < len(text):
        match = dialect.match(text, position)
        if match is None:
            return None  # an open quote or a backslash at the end
        position = match.end()
        kind, part = match.lastgroup or "", match[0]
        if kind in ("blank", "operator", "comment"):
            if draft is not None:
                words.append(draft.word())
                draft, glued = None, True
            if kind == "operator":
                words.append(Word(part, operator=True, glued=glued))
            glued = kind == "operator"
            continue
        if draft is None:
            draft = _Draft(glued)
        draft.add(kind, part)
    if draft is not None:
        words.append(draft.word())
    return tuple(words)


def split_words(text: str) -> tuple[Word, ...] | None:
    """Words as ``shlex.split`` gives them: operators and newlines mean nothing. None where quotes stay open."""
    return _scan(text, _WORDS)


def split_shell(text: str) -> tuple[Word, ...] | None:
    """Words with runs of unquoted ``; & | < >`` and newlines as words of their own. None where quotes stay open."""
    return _scan(text, _SHELL)


def split_plan(text: str) -> tuple[Word, ...] | None:
    """As ``split_shell``, and ``#`` starts a comment anywhere, which takes the line's end with it."""
    return _scan(text, _PLAN)


def split_strict(text: str) -> tuple[Word, ...] | None:
    """Words as a shell splits them: ``#`` starts a comment at the start of a word only, up to the line's end."""
    return _scan(text, _STRICT)


def trim_lines(words: Sequence[Word]) -> list[Word]:
    """Words of ``split_shell`` without the line ends before the first and after the last command."""
    first, last = 0, len(words)
    while first < last and _ends_lines(words[first]):
        first += 1
    while first < last and _ends_lines(words[last - 1]):
        last -= 1
    return list(words[first:last])


def _ends_lines(word: Word) -> bool:
    return word.operator and not word.text.strip("\n")


def program_name(text: str) -> str:
    """The last part of a program's path; the program itself is always looked up by this name."""
    if "/" not in text and text != ".":
        return text
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return parts[-1] if parts else ""


def in_its_place(text: str) -> bool:
    """Whether a program's word names it where a bare name finds it."""
    return text.rpartition("/")[0] in _PROGRAM_FOLDERS


def whole_number(text: str, low: int, high: int) -> int | None:
    """The number that decimal digits of any script write, where it lies in ``low..high``; None for ``²`` or a sign."""
    if not text.isdecimal() or len(text) > _DIGITS:
        return None
    number = int(text)
    return number if low <= number <= high else None
