"""The smallest git repository: an unborn branch ``main``, no objects, nothing of the user's configuration.

What must be there is told by gitrepository-layout(5): ``HEAD``, ``objects`` and ``refs`` make a directory a
repository; ``config`` says that it has a working tree, so that nothing is guessed.
"""

from __future__ import annotations

__all__ = ["REPOSITORY_DIRECTORIES", "repository_files"]

#: Paths below the repository's root, by parts, parents first.
REPOSITORY_DIRECTORIES: tuple[tuple[str, ...], ...] = (
    (".git",),
    (".git", "objects"),
    (".git", "refs"),
    (".git", "refs", "heads"),
)

_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"


def repository_files(origin: str | None) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Paths below the repository's root and their texts; ``origin`` is the address of the remote of that name."""
    remote = "" if origin is None else f'[remote "origin"]\n\turl = {origin}\n'
    return (((".git", "HEAD"), "ref: refs/heads/main\n"), ((".git", "config"), _CONFIG + remote))
