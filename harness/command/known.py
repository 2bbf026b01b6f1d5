"""Texts that were read before: trials say the same, and most of what they say is read alike in every workspace."""

from __future__ import annotations

from threading import Lock
from typing import Final

from harness.schema.command import CallSpec, GrammarContext, ParsedCommand

__all__ = ["KnownTexts"]

#: Longest text that is remembered, in characters; and how many are.
_SHORT: Final = 1024
_MOST: Final = 1024
#: The text, what of its context is the same in every workspace, and which object its call's rules are.
_Asked = tuple[str, str, str, tuple[str, ...], tuple[str, ...], tuple[str, ...], int]


class KnownTexts:
    """How texts were read that no root, and nothing in one, had a say in. Safe to use from several threads.

    The rules of a call are held by the very same object: comparing them would cost what is saved. They are kept as
    well, so that no other rules get their place in memory.
    """

    def __init__(self) -> None:
        self._known: dict[_Asked, tuple[CallSpec | None, ParsedCommand]] = {}
        self._lock = Lock()

    def find(self, text: str, context: GrammarContext) -> ParsedCommand | None:
        """How the text was read; None where that is not known."""
        known = self._known.get(_asked(text, context))
        return None if known is None else known[1]

    def keep(self, text: str, context: GrammarContext, parsed: ParsedCommand) -> None:
        """Remember how a text was read, the latest of them; a long one comes once."""
        if len(text) > _SHORT:
            return
        with self._lock:
            self._known[_asked(text, context)] = context.call, parsed
            if len(self._known) > _MOST:
                del self._known[next(iter(self._known))]


def _asked(text: str, context: GrammarContext) -> _Asked:
    own = context.content, context.metadata
    return text, context.profile, context.cwd, context.readable, *own, id(context.call)
