"""A fresh directory for one episode, owned by this process as long as it lives.

Beside the directory lies an owner file. It exists, locked, before the directory does, so at every moment a directory
without a living owner is told from one with.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from harness.errors import EnvironmentProblem, SetupRejectedError
from harness.workspace.owning import (
    MARK,
    OWNER_FILE,
    OWNERS,
    Owner,
    claim,
    claim_again,
    is_file_of,
    lock,
    owner_file,
    roots_of,
)
from harness.workspace.removal import is_removed
from harness.workspace.removing import Left, leave

__all__ = ["PROCESS_HOME", "Workspace", "reserve", "sweep"]

#: Name of the root that is the control plane's own, empty home directory.
PROCESS_HOME = "process_home"

_RESERVED = frozenset({PROCESS_HOME, "fixture"})  # the second is the workspace itself in ``{fixture_root}``
_SPOKEN_AS_SYNTAX = re.compile(r"""[\s"'\\$`;&|<>()*?\[\]{}#!~^\x00-\x1f\x7f]""")
_SYSTEM = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108  (only the parent: what is made in them is private)


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where one episode happens; every path is absolute.

    ``root`` has its links resolved, ``given`` is the same place as the caller or TMPDIR spelled it. ``roots`` are
    the scenario's, by name; absent ones have a path and no directory. ``process_home`` is empty and belongs to the
    control plane's process alone. ``cwd`` is the root that commands run in.
    """

    root: Path
    given: Path
    roots: dict[str, Path]
    process_home: Path
    cwd: Path


@contextlib.contextmanager
def reserve(
    *,
    roots: Sequence[str],
    absent: Collection[str] = (),
    base: Path | None = None,
    keep: bool = False,
    cwd: str | None = None,
    name: str | None = None,
    later: Callable[[Path, Left], None] | None = None,
) -> Iterator[Workspace]:
    """A new workspace of mode 0700 below ``base`` (the system's temporary directory), removed at the end.

    A ``base`` whose path commands would read as syntax is not used; the system's own directory is then.

    ``name`` is that of an earlier one, to be made again at the same place: what a dead owner left there is removed.
    ``keep`` leaves it behind, and ``sweep`` never touches it. ``cwd`` names a root; without it ``project``, or the
    first root where there is none of that name. What cannot be removed at the end is left to the next ``sweep``.
    ``later`` is given the path that is to be removed, and what to tell of that once, from any thread; without it that
    is done before this ends. With it the workspaces that a process has at a time share one owner file.

    Raises:
        SetupRejectedError: the roots' names cannot be used.
        EnvironmentProblem: the temporary directory cannot be used, or the place of ``name`` is taken.
    """
    names = _checked(roots, absent, cwd)
    place, given = _place(os.path.abspath(base or tempfile.gettempdir()))  # noqa: PTH100  (links must stay in it)
    is_shared = later is not None and not keep and name is None
    owner, root = OWNERS.shared(place) if is_shared else _alone(place, name)
    try:
        _make(root, [name for name in (*names, PROCESS_HOME) if name not in absent])
        if keep:
            owner.path.unlink()
        paths = {name: root / name for name in names}
        start = paths[cwd] if cwd is not None else paths.get("project", next(iter(paths.values())))
        yield Workspace(root, given / root.name, paths, root / PROCESS_HOME, start)
    finally:
        left = partial(_left, owner)
        if keep:
            left(is_gone=True)
        else:
            (later or leave)(root, left)


def sweep(base: Path | None = None) -> int:
    """Remove the workspaces below ``base`` whose owners are dead; returns how many.

    Never one of a living owner (any process, any thread), a kept one, or anything that this user did not make with
    ``reserve``: links are not followed, other users' files are not opened.

    Raises:
        EnvironmentProblem: the temporary directory cannot be used.
    """
    places = dict.fromkeys((_temporary(base), _speakable(base)[0]))
    found = sorted(path for place in places for path in place.iterdir() if OWNER_FILE.fullmatch(path.name))
    return sum(map(_sweep_one, found))


def _checked(roots: Sequence[str], absent: Collection[str], cwd: str | None) -> tuple[str, ...]:
    names = tuple(roots)
    if not names or len(set(names)) != len(names):
        raise SetupRejectedError(f"workspace.roots: {list(names)}: must be one or more different names")
    for name in names:
        if name in _RESERVED or not name.isidentifier():
            raise SetupRejectedError(f"workspace.roots: {name!r} cannot be the name of a root")
    for name in (*absent, *(() if cwd is None else (cwd,))):
        if name not in names:
            raise SetupRejectedError(f"workspace: {name!r} is no root; there are: {', '.join(names)}")
    return names


@lru_cache(maxsize=16)
def _place(base: str) -> tuple[Path, Path]:
    """As ``_speakable``, found out once: every episode asks, and a directory that went is noticed when it is used."""
    return _speakable(Path(base))


def _speakable(base: Path | None) -> tuple[Path, Path]:
    """Where workspaces are made, with links resolved and as it was given.

    Their paths stand in prompts, commands and JSON texts, where a blank or a quote would be read as something else:
    below a temporary directory with such a character in its path none is made, but in the system's own.
    """
    place = _temporary(base)
    if not _SPOKEN_AS_SYNTAX.search(str(place)):
        return place, Path(os.path.abspath(base or tempfile.gettempdir()))  # noqa: PTH100  (links must stay in it)
    for other in _SYSTEM:
        if os.access(other, os.W_OK | os.X_OK):
            return other.resolve(), other
    problem = "its path has a character that commands read as syntax, and no system directory can be written"
    raise EnvironmentProblem(f"temporary directory {place}: {problem}; set TMPDIR to another one")


def _temporary(base: Path | None) -> Path:
    try:
        place = Path(tempfile.gettempdir() if base is None else base).resolve(strict=True)
        if not place.is_dir():
            raise NotADirectoryError(place)
    except (OSError, RuntimeError) as error:
        raise EnvironmentProblem(f"temporary directory: {error}; set TMPDIR to one that can be written") from error
    return place


def _alone(place: Path, name: str | None) -> tuple[Owner, Path]:
    """An owner of one workspace: a new one, or that of an earlier one, of which nothing is left."""
    if name is None:
        owner = claim(place)
        return owner, owner.alone
    path = owner_file(place, name)
    _sweep_one(path)
    owner = claim_again(path)
    return owner, owner.alone


def _make(root: Path, inside: Sequence[str]) -> None:
    try:
        for path, mode in ((str(root), 0o700), *((f"{root}/{name}", 0o755) for name in inside)):
            os.mkdir(path, mode)  # noqa: PTH102  (every episode makes some)
            if stat.S_IMODE(os.lstat(path).st_mode) != mode:  # the umask had its say in mkdir
                os.chmod(path, mode)  # noqa: PTH101
    except OSError as error:
        raise EnvironmentProblem(f"temporary directory {root.parent}: {error.strerror}") from error


def _left(owner: Owner, is_gone: bool) -> None:
    OWNERS.give_back(owner, is_gone=is_gone)


def _sweep_one(owner: Path) -> int:
    try:
        descriptor = os.open(owner, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        known = os.fstat(descriptor)
        if not stat.S_ISREG(known.st_mode) or known.st_uid != os.geteuid():
            return 0
        if not lock(descriptor) or not is_file_of(owner, descriptor):
            return 0
        mark, roots = os.read(descriptor, len(MARK) + 1), roots_of(owner)
        if roots and mark != MARK:
            return 0
        gone = sum(_is_own_directory(root) and is_removed(root) for root in roots)
        # without a directory it was killed before that was made, or after it was removed
        if gone == len(roots) and mark in {MARK, b""}:
            with contextlib.suppress(OSError):
                owner.unlink()
        return gone
    finally:
        os.close(descriptor)


def _is_own_directory(path: Path) -> bool:
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
