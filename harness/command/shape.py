"""What may be told of a command: counts and yes/no, taken from the readings that were made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from harness.command.expansion import uses_dollar
from harness.command.lexer import Word
from harness.schema.command import CallPlan, ClockPlan, CommandShape, GrammarContext, ReadPlan

__all__ = ["UNREAD", "command_shape", "has_lines"]

_MOST_TOKENS = 8
_MOST_SEGMENTS = 9

#: The shape of a text that could not be split into words, or was not looked at.
UNREAD = CommandShape(
    parseable=False,
    tokens=0,
    family="unknown",
    segments=0,
    multiline=False,
    pipe=False,
    redirect=False,
    conditional=False,
    expansion=False,
    names_content_target=False,
)


def command_shape(
    text: str,
    words: Sequence[Word],
    shell: Sequence[Word],
    context: GrammarContext,
    *,
    call: CallPlan | None,
    clock: ClockPlan | None,
    reads: ReadPlan | None,
) -> CommandShape:
    """The shape of a text from its ``split_words`` and ``split_shell``; operators count where they stand unquoted."""
    runs = [word.text for word in shell if word.operator]
    joints = [run for run in runs if not _redirects(run)]
    return CommandShape(
        parseable=True,
        tokens=min(len(words), _MOST_TOKENS),
        family=_family(call, clock, reads),
        segments=min(_segments(shell), _MOST_SEGMENTS),
        multiline=has_lines(text),
        pipe=any("|" in run.replace("||", "") for run in joints),
        redirect=len(joints) < len(runs),
        conditional=any("&&" in run or "||" in run for run in joints),
        expansion=any(map(uses_dollar, words)),
        names_content_target=_names_content(words, context),
    )


def has_lines(text: str) -> bool:
    """Whether a text goes on after a line end."""
    return "\n" in text.strip()


def _redirects(run: str) -> bool:
    return "<" in run or ">" in run


def _segments(words: Sequence[Word]) -> int:
    """Simple commands: stretches of words between operators that are no redirects."""
    count, inside = 0, False
    for word in words:
        joint = word.operator and not _redirects(word.text)
        count += not joint and not inside
        inside = not joint
    return count


def _family(
    call: CallPlan | None, clock: ClockPlan | None, reads: ReadPlan | None
) -> Literal["call", "clock", "content", "metadata", "other", "unknown"]:
    """The first reading in the order call, clock, reads."""
    if call is not None:
        return "call"
    if clock is not None:
        return "clock"
    return "unknown" if reads is None else reads.role


def _names_content(words: Sequence[Word], context: GrammarContext) -> bool:
    """Whether a word contains a content file's path, relative to the working root or to the workspace."""
    start = f"{context.cwd}/"
    names = [path.removeprefix(start) for path in context.content]
    return any(name in word.text for name in names for word in words)
