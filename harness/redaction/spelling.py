"""Patterns that find one secret in a text, however its characters are spelled there."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import groupby

from harness.redaction.breaks import breaks
from harness.redaction.forms import base64_digits, utf8

__all__ = ["bare_pattern", "base64_pattern", "characters_pattern", "hexadecimal_pattern"]

#: What stands between the digits of a base64 text that is wrapped into lines, raw or as JSON escapes.
_WRAP = r"(?:\\[rn]?|[ \t\r\n])*"
#: Nested JSON doubles its backslashes at each level; this many are read.
_BACKSLASHES = 8
_SHORT_ESCAPES = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}


def characters_pattern(secret: str) -> re.Pattern[str]:
    """Each character as it is, or escaped in JSON (also nested), HTML, a URL, or a form, in any mixture and case."""
    return re.compile("".join(_runs(secret)), re.IGNORECASE)


def bare_pattern(secret: str) -> re.Pattern[str]:
    """As ``characters_pattern``, for texts without their breaks: what is a break in the secret may be there or not."""
    return re.compile("".join(_bare_runs(secret)), re.IGNORECASE)


def _bare_runs(secret: str) -> Iterator[str]:
    at = 0
    for start, end in breaks(secret):
        yield from _runs(secret[at:start])
        yield from (f"(?:{run})?" for run in _runs(secret[start:end]))
        at = end
    yield from _runs(secret[at:])


def hexadecimal_pattern(secret: str) -> re.Pattern[str]:
    """The bytes as hexadecimal digits, in any case."""
    return re.compile(utf8(secret).hex(), re.IGNORECASE)


def base64_pattern(secret: str) -> re.Pattern[str]:
    """The digits that all base64 texts with the secret in them share, by alignment and alphabet, also in lines."""
    forms = sorted({form.decode("ascii") for form in base64_digits(utf8(secret))})
    return re.compile("|".join(_WRAP.join(map(re.escape, form)) for form in forms))


def _runs(text: str) -> Iterator[str]:
    return (_run(letter, sum(1 for _ in same)) for letter, same in groupby(text))


def _run(letter: str, count: int) -> str:
    """A character as often as it stands there. Of backslashes in a row only their number counts, never its parts."""
    if letter != "\\":
        return f"(?:{'|'.join(_spellings(letter))})" * count
    return rf"(?:\\{{{count},{_BACKSLASHES * count}}}|(?:{'|'.join(_spellings(letter))}){{{count}}})"


def _spellings(letter: str) -> Iterator[str]:
    code = ord(letter)
    plain = re.escape(letter)
    yield {'"': rf"\\{{0,{_BACKSLASHES}}}\"", "/": rf"\\{{0,{_BACKSLASHES}}}/"}.get(letter, plain)
    if letter in _SHORT_ESCAPES:
        yield rf"\\{{1,{_BACKSLASHES}}}{_SHORT_ESCAPES[letter]}"
    halves = letter.encode("utf-16-be", "surrogatepass")
    units = [halves[at : at + 2].hex() for at in range(0, len(halves), 2)]
    yield "".join(rf"\\{{0,{_BACKSLASHES}}}u{unit}" for unit in units)
    yield "".join(f"%(?:25)?{byte:02x}" for byte in utf8(letter))
    if letter == " ":
        yield r"\+"
    yield rf"&#0*{code};"
    yield rf"&#x0*{code:x};"
    named = html.escape(letter)
    if named != letter:
        yield re.escape(named)
