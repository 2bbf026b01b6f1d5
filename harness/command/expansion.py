"""What a shell would have replaced in a word before the program saw it."""

from __future__ import annotations

import re

from harness.command.clock import read_clock
from harness.command.lexer import Word, split_shell

__all__ = ["expands", "substitutes", "uses_dollar"]

_DOLLAR = re.compile(r"\$[A-Za-z0-9_{(@*#?$!-]|`")
_SUBSTITUTION = re.compile(r"\$\(([^()`$\\]*)\)")
_PATTERN = re.compile(r"[*?\[]|\{[^{}]*(?:,|\.\.)[^{}]*\}")


def uses_dollar(word: Word) -> bool:
    """Whether a variable, a substitution or an arithmetic expression stands in the word.

    Between double quotes a ``$`` before a blank is a dollar; unquoted it is never taken for one (``$'...'``).
    """
    return "$" in word.bare or _DOLLAR.search(word.active) is not None


def expands(word: Word) -> bool:
    """Whether a shell would give the program another word: variables, substitutions, ``~``, file name patterns."""
    return uses_dollar(word) or word.lead.startswith("~") or _PATTERN.search(word.bare) is not None


def substitutes(word: Word, harmless: tuple[str, ...]) -> bool:
    """Whether the word would run a command other than a question for the time or one of ``harmless``."""

    def judged(match: re.Match[str]) -> str:
        inner = match[1].strip()
        return "" if inner in harmless or read_clock(split_shell(inner) or ()) is not None else match[0]

    live = word.text if "$(" in word.active or "`" in word.active else ""
    rest = _SUBSTITUTION.sub(judged, live)
    return "$(" in rest or "`" in rest
