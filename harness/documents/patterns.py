r"""Regular expressions of scenario files, in the dialect of RE2, which never takes more than linear time.

A pattern is data from a file: with a backtracking engine one line of it could hold a run for ever. RE2 knows no
look-around and no back-references; ``\d``, ``\s`` and ``\w`` mean ASCII, and ``$`` is the very end of the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Protocol, cast

import re2

__all__ = ["PATTERN_MAX", "first_group", "matches", "pattern_problem"]

#: Longest pattern, in characters.
PATTERN_MAX: Final = 1_000
#: What a compiled pattern may take, in bytes; it also bounds the work for each character of the text.
_MEMORY: Final = 262_144
#: Half of a surrogate pair, which UTF-8 and so the engine cannot hold; what stands for it has its length.
_HALF: Final = re.compile(r"[\ud800-\udfff]")


class _Found(Protocol):
    def span(self, group: int) -> tuple[int, int]: ...


class _Pattern(Protocol):
    groups: int

    def search(self, text: str) -> _Found | None: ...


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> _Pattern:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return cast("_Pattern", re2.compile(pattern, options))


def pattern_problem(pattern: str, *, groups: int = 1) -> tuple[str, str] | None:
    """Why a text cannot be a pattern with so many groups, and what is allowed; None where it can."""
    if len(pattern) > PATTERN_MAX:
        return f"a regular expression of {len(pattern)} characters", f"at most {PATTERN_MAX}"
    try:
        found = _compiled(pattern).groups
    except (re2.error, UnicodeError) as error:
        said = error.args[0] if isinstance(error, re2.error) and error.args else "no text"
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        return f"is no regular expression: {reason}", "the syntax of RE2: no look-around, no back-references"
    if found == groups:
        return None
    return f"a regular expression with {found} groups", "exactly one group" if groups else "none: (?:...) groups alone"


def first_group(pattern: str, text: str) -> str | None:
    """What the one group of the first match in ``text`` took; None where nothing matches, or not the group."""
    found = _compiled(pattern).search(_HALF.sub("\ufffd", text))
    start, end = (-1, -1) if found is None else found.span(1)
    return None if start < 0 else text[start:end]


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern matches anywhere in ``text``."""
    return _compiled(pattern).search(_HALF.sub("\ufffd", text)) is not None
