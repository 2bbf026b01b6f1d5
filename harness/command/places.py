"""Where paths of a command lead: resolved, symlinks followed, and kept inside the roots."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.command.lexer import Word
from harness.command.profile import Profile
from harness.schema.command import GrammarContext, TargetRole

__all__ = ["Places", "settle"]

#: Longest path that a system call takes on Linux, final NUL included.
_PATH_BYTES = 4096


def settle(path: str) -> str | None:
    """An absolute path without symlinks and dots, or None where it has no such form.

    A path too long to be opened is only tidied. One that a second look resolves differently (behind a loop of links
    the first look gives up half-way) has no settled form.
    """
    if len(path.encode()) >= _PATH_BYTES:
        path = os.path.normpath(path)
        if len(path.encode()) >= _PATH_BYTES:
            return path
    try:
        resolved = os.path.realpath(path)
        resolved.encode()  # a link may lead to a name that is no text
        return resolved if os.path.realpath(resolved) == resolved else None
    except (OSError, ValueError, RecursionError):
        return None


@dataclass(slots=True)
class Places:
    """The roots of one workspace and what a command may reach in them. ``context.cwd`` must be one of its roots.

    ``matter``: where the roots lie, or what is in them, was asked for.
    """

    context: GrammarContext
    profile: Profile
    matter: bool = field(default=False, init=False)

    @property
    def _roots(self) -> Mapping[str, str]:
        self.matter = True
        return self.context.roots

    @property
    def here(self) -> str:
        """The directory commands run in."""
        return self._roots[self.context.cwd]

    def in_cwd(self, value: str) -> str | None:
        """The settled path, where it lies in the working root."""
        return self._within(value, (self.context.cwd,))

    def anywhere(self, value: str) -> str | None:
        """The settled path, where it lies in any root."""
        return self._within(value, tuple(self._roots))

    def listable(self, word: Word) -> str | None:
        """The settled path of a directory to list: in the working root, or absolute and in a readable root."""
        at_home = self._at_home(word)
        if at_home is not None:
            settled = self._within(at_home, self.context.readable)
            folder = _under(self._roots[self.profile.home_root], self.profile.home_folder)
            return settled if settled is not None and _below(settled, folder) else None
        if word.text.startswith("/"):
            return self._within(word.text, (self.context.cwd, *self.context.readable))
        return self.in_cwd(word.text)

    def piped(self, word: Word) -> str | None:
        """The settled path of a file read through ``cat FILE | head``: listed metadata anywhere, else as ``in_cwd``."""
        at_home = self._at_home(word)
        value = word.text if at_home is None else at_home
        if value.startswith("/"):
            settled = self.anywhere(value)
            if settled is not None and self.workspace_path(settled) in self.context.metadata:
                return settled
        return self.in_cwd(word.text)

    def names_home(self, word: Word) -> bool:
        """Whether the word names the profile's home folder or a place below it in one of its spellings."""
        return self._at_home(word) is not None

    def tidied_into_being(self, word: Word) -> bool:
        """Whether the word as typed leads nowhere and its settled path leads to something."""
        at_home = self._at_home(word)
        typed = _under(self.here, word.text if at_home is None else at_home)
        settled = settle(typed)
        return settled is not None and os.path.lexists(settled) and not os.path.lexists(typed)

    def workspace_path(self, settled: str) -> str:
        """``root/path`` of a settled path that lies in a root; the innermost root where roots nest."""
        roots = self._roots
        name = max((n for n in roots if _below(settled, roots[n])), key=lambda n: len(roots[n]))
        rest = settled[len(roots[name].rstrip("/")) :].strip("/")
        return f"{name}/{rest}" if rest else name

    def role(self, target: str) -> TargetRole:
        """What a workspace path is to the scenario."""
        if target in self.context.content:
            return "content"
        return "metadata" if target in self.context.metadata else "other"

    def _within(self, value: str, names: tuple[str, ...]) -> str | None:
        settled = settle(_under(self.here, value))
        roots = (self._roots[name] for name in names)
        return settled if settled is not None and any(_below(settled, root) for root in roots) else None

    def _at_home(self, word: Word) -> str | None:
        """The absolute form of a word that names the profile's home folder, before its links are followed."""
        folder = self.profile.home_folder
        for spelling in self.profile.home_spellings:
            live = word.active if spelling.startswith("$") else word.lead
            start = f"{spelling}/{folder}"
            if live.startswith(spelling) and (word.text == start or word.text.startswith(f"{start}/")):
                root = self._roots.get(self.profile.home_root)
                return None if root is None else _under(root, word.text[len(spelling) + 1 :])
        return None


def _under(base: str, value: str) -> str:
    return value if value.startswith("/") else f"{base}/{value}"


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
