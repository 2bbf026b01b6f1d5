"""A fresh directory for one episode, owned by this process as long as it lives.

Beside the directory ``harness-XXXXXXXX`` lies ``harness-XXXXXXXX.owner``. Its maker holds a lock on that file, which
the system drops when the process ends, however it ends. The file exists, locked, before the directory does, so at
every moment a directory without a living owner is told from one with.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from harness.errors import EnvironmentProblem, SetupRejectedError
from harness.workspace.removal import remove_tree
from harness.workspace.whole import write_whole

__all__ = ["PROCESS_HOME", "Workspace", "reserve", "sweep"]

#: Name of the root that is the control plane's own, empty home directory.
PROCESS_HOME = "process_home"

_RESERVED = frozenset({PROCESS_HOME, "fixture"})  # the second is the workspace itself in ``{fixture_root}``
_MARK = b"harness workspace owner\n"
_PREFIX, _SUFFIX = "harness-", ".owner"
_OWNER_FILE = re.compile(r"harness-[a-z0-9_]{8}\.owner")
_ATTEMPTS = 100
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
    later: Callable[[Callable[[], None]], None] | None = None,
) -> Iterator[Workspace]:
    """A new workspace of mode 0700 below ``base`` (the system's temporary directory), removed at the end.

    A ``base`` whose path commands would read as syntax is not used; the system's own directory is then.

    ``name`` is that of an earlier one, to be made again at the same place: what a dead owner left there is removed.
    ``keep`` leaves it behind, and ``sweep`` never touches it. ``cwd`` names a root; without it ``project``, or the
    first root where there is none of that name. What cannot be removed at the end is left to the next ``sweep``.
    ``later`` is given what removes it, to be called once, from any thread; without it that is done before this ends.

    Raises:
        SetupRejectedError: the roots' names cannot be used.
        EnvironmentProblem: the temporary directory cannot be used, or the place of ``name`` is taken.
    """
    names = _checked(roots, absent, cwd)
    place, given = _place(os.path.abspath(base or tempfile.gettempdir()))  # noqa: PTH100  (links must stay in it)
    owner, descriptor = _claim(place) if name is None else _claim_again(place, name)
    root = owner.with_suffix("")
    try:
        _make(root, [name for name in (*names, PROCESS_HOME) if name not in absent])
        if keep:
            owner.unlink()
        paths = {name: root / name for name in names}
        start = paths[cwd] if cwd is not None else paths.get("project", next(iter(paths.values())))
        yield Workspace(root, given / root.name, paths, root / PROCESS_HOME, start)
    finally:
        if keep or later is None:
            _leave(root, owner, descriptor, keep=keep)
        else:
            later(partial(_leave, root, owner, descriptor, keep=False))


def sweep(base: Path | None = None) -> int:
    """Remove the workspaces below ``base`` whose owners are dead; returns how many.

    Never one of a living owner (any process, any thread), a kept one, or anything that this user did not make with
    ``reserve``: links are not followed, other users' files are not opened.

    Raises:
        EnvironmentProblem: the temporary directory cannot be used.
    """
    places = dict.fromkeys((_temporary(base), _speakable(base)[0]))
    found = sorted(path for place in places for path in place.iterdir() if _OWNER_FILE.fullmatch(path.name))
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


def _claim(place: Path) -> tuple[Path, int]:
    """A new owner file, locked and marked, and its descriptor."""
    for _ in range(_ATTEMPTS):
        try:
            descriptor, name = tempfile.mkstemp(_SUFFIX, _PREFIX, place)
        except OSError as error:
            problem = f"temporary directory {place}: {error.strerror}; set TMPDIR to one that can be written"
            raise EnvironmentProblem(problem) from error
        owner = Path(name)
        # A sweep may have met the file between its making and its lock, and removed it: then take another.
        is_free = not os.path.lexists(name.removesuffix(_SUFFIX))
        if is_free and _lock(descriptor) and _is_file_of(owner, descriptor):
            _mark(owner, descriptor)
            return owner, descriptor
        if _is_file_of(owner, descriptor):
            owner.unlink(missing_ok=True)
        os.close(descriptor)
    raise EnvironmentProblem(f"temporary directory {place}: no free name was found; set TMPDIR to another one")


def _claim_again(place: Path, name: str) -> tuple[Path, int]:
    """The owner file of an earlier workspace, locked, its directory gone."""
    owner = place / f"{name}{_SUFFIX}"
    problem = f"temporary directory {place}: the place of an earlier workspace is taken; remove it, or start anew"
    if not _OWNER_FILE.fullmatch(owner.name):
        raise EnvironmentProblem(problem)
    _sweep_one(owner)
    if os.path.lexists(owner.with_suffix("")):
        raise EnvironmentProblem(problem)
    try:
        descriptor = os.open(owner, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise EnvironmentProblem(problem) from error
    if not _lock(descriptor) or not _is_file_of(owner, descriptor):
        os.close(descriptor)
        raise EnvironmentProblem(problem)
    _mark(owner, descriptor)
    return owner, descriptor


def _mark(owner: Path, descriptor: int) -> None:
    """Say whose file it is, all of it; where there is no room for that it goes. Raises EnvironmentProblem."""
    try:
        write_whole(descriptor, _MARK)
    except OSError as error:
        owner.unlink(missing_ok=True)
        os.close(descriptor)
        problem = f"temporary directory {owner.parent}: {error.strerror}; set TMPDIR to one that can be written"
        raise EnvironmentProblem(problem) from error


def _make(root: Path, inside: Sequence[str]) -> None:
    try:
        for path, mode in ((str(root), 0o700), *((f"{root}/{name}", 0o755) for name in inside)):
            os.mkdir(path, mode)  # noqa: PTH102  (every episode makes some)
            if stat.S_IMODE(os.lstat(path).st_mode) != mode:  # the umask had its say in mkdir
                os.chmod(path, mode)  # noqa: PTH101
    except OSError as error:
        raise EnvironmentProblem(f"temporary directory {root.parent}: {error.strerror}") from error


def _leave(root: Path, owner: Path, descriptor: int, *, keep: bool) -> None:
    if not keep:
        _give_up(root, owner)
    os.close(descriptor)


def _give_up(root: Path, owner: Path) -> None:
    try:
        _remove_both(root, owner)
    except KeyboardInterrupt:
        _remove_both(root, owner)
        raise


def _remove_both(root: Path, owner: Path) -> bool:
    for _ in range(3):  # a process that outlived its time may still be writing
        with contextlib.suppress(OSError):
            remove_tree(root)
            owner.unlink(missing_ok=True)
            return True
    return False


def _sweep_one(owner: Path) -> bool:
    root = owner.with_suffix("")
    try:
        descriptor = os.open(owner, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        known = os.fstat(descriptor)
        if not stat.S_ISREG(known.st_mode) or known.st_uid != os.geteuid():
            return False
        if not _lock(descriptor) or not _is_file_of(owner, descriptor):
            return False
        mark = os.read(descriptor, len(_MARK) + 1)
        if not os.path.lexists(root):
            # killed before the directory was made, or after it was removed
            if mark in (_MARK, b""):
                owner.unlink(missing_ok=True)
            return False
        return mark == _MARK and _is_own_directory(root) and _remove_both(root, owner)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_file_of(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _is_own_directory(path: Path) -> bool:
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
