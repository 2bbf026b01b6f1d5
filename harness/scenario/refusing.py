"""The one line about a TOML file of ours that cannot be used: file, line, key, and what is allowed there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.documents import DocumentError
from harness.documents.locating import line_of, lines
from harness.errors import ConfigError
from harness.scenario.problem import Problem, dotted

__all__ = ["refusal", "unreadable"]

#: Most characters of a list of what is allowed.
_ALLOWED_MAX: Final = 160


def unreadable(name: str, error: DocumentError, text: str) -> ConfigError:
    """About a file that could not be read, or whose ``text`` is no TOML that we read."""
    line = line_of(lines(text), error.path) if error.path else error.line
    place = name if line is None else f"{name}:{line}"
    at = f"{dotted(error.path)}: " if error.path else ""
    allowed = f"; allowed: {error.allowed}" if error.allowed else ""
    return ConfigError(f"{place}: {at}{error.problem}{allowed}")


def refusal(name: str, text: str, problems: Sequence[Problem]) -> ConfigError:
    """About the first, by line, of one or more ``problems`` of a file."""
    where = lines(text)
    first = min(problems, key=lambda problem: line_of(where, problem.path))
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    allowed = f"; allowed: {_cut(first.allowed)}" if first.allowed else ""
    at = f"{dotted(first.path)}: " if first.path else ""
    return ConfigError(f"{name}:{line_of(where, first.path)}: {at}{first.text}{more}{allowed}")


def _cut(listed: str) -> str:
    """As many of what is allowed as fit into a line that is read."""
    if len(listed) <= _ALLOWED_MAX:
        return listed
    return f"{listed[:_ALLOWED_MAX].rpartition(', ')[0] or listed[:_ALLOWED_MAX]}, ..."
