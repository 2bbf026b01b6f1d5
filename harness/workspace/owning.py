"""Owner files, which tell that whoever makes workspaces still lives.

The maker of ``harness-XXXXXXXX`` holds a lock on the file ``harness-XXXXXXXX.owner`` beside it, which the system drops
when the process ends, however it ends. One file may stand for several workspaces of a process, which are called
``harness-XXXXXXXX-NNNNNNNN`` then.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from harness.errors import EnvironmentProblem
from harness.workspace.whole import write_whole

__all__ = [
    "MARK",
    "OWNERS",
    "OWNER_FILE",
    "Owner",
    "Owners",
    "claim",
    "claim_again",
    "is_file_of",
    "lock",
    "owner_file",
    "roots_of",
]

#: What an owner file says.
MARK: Final = b"harness workspace owner\n"
_PREFIX, _SUFFIX = "harness-", ".owner"
OWNER_FILE: Final = re.compile(r"harness-[a-z0-9_]{8}\.owner")
_ATTEMPTS = 100


@dataclass(slots=True)
class Owner:
    """A locked owner file: its path, and the descriptor that holds the lock.

    ``users`` are the workspaces that it stands for now, ``shared_by`` how many have shared it so far; ``is_needed``
    says that one of them could not be removed, so that the file must stay.
    """

    path: Path
    descriptor: int
    users: int = 1
    shared_by: int = 0
    is_needed: bool = False

    @property
    def alone(self) -> Path:
        """The workspace that it stands for where it does for one alone."""
        return self.path.with_suffix("")


class Owners:
    """Owners of the workspaces that a process has now. Safe to use from any thread.

    To make, lock and mark a file takes the system longer than to make a workspace, so some share theirs.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._shared: dict[Path, Owner] = {}

    def shared(self, place: Path) -> tuple[Owner, Path]:
        """An owner in the directory ``place`` for one workspace more, and its path. Raises EnvironmentProblem."""
        with self._lock:
            owner = self._shared.get(place)
            if owner is None:
                owner = self._shared[place] = claim(place)
            else:
                owner.users += 1
            owner.shared_by += 1
            return owner, owner.path.with_name(f"{owner.alone.name}-{owner.shared_by:08x}")

    def give_back(self, owner: Owner, *, is_gone: bool) -> None:
        """A workspace is done with; where it is not gone its owner file stays, for who sweeps. Raises nothing."""
        with self._lock:
            owner.users -= 1
            owner.is_needed = owner.is_needed or not is_gone
            if owner.users:
                return
            if self._shared.get(owner.path.parent) is owner:
                del self._shared[owner.path.parent]
        if not owner.is_needed:
            with contextlib.suppress(OSError):
                owner.path.unlink()
        os.close(owner.descriptor)

    def forget(self) -> None:
        """In a process that was forked off: they are its parent's."""
        self._lock = Lock()
        self._shared = {}


#: Those of this process.
OWNERS: Final = Owners()
os.register_at_fork(after_in_child=OWNERS.forget)


def claim(place: Path) -> Owner:
    """A new owner file, locked and marked. Raises EnvironmentProblem."""
    for _ in range(_ATTEMPTS):
        try:
            descriptor, name = tempfile.mkstemp(_SUFFIX, _PREFIX, place)
        except OSError as error:
            problem = f"temporary directory {place}: {error.strerror}; set TMPDIR to one that can be written"
            raise EnvironmentProblem(problem) from error
        path = Path(name)
        # A sweep may have met the file between its making and its lock, and removed it: then take another.
        is_free = not os.path.lexists(name.removesuffix(_SUFFIX))
        if is_free and lock(descriptor) and is_file_of(path, descriptor):
            _mark(path, descriptor)
            return Owner(path, descriptor)
        if is_file_of(path, descriptor):
            path.unlink(missing_ok=True)
        os.close(descriptor)
    raise EnvironmentProblem(f"temporary directory {place}: no free name was found; set TMPDIR to another one")


def owner_file(place: Path, name: str) -> Path:
    """Where the owner file of the earlier workspace of that name was. Raises EnvironmentProblem: it had none."""
    path = place / f"{name}{_SUFFIX}"
    if not OWNER_FILE.fullmatch(path.name):
        raise _taken(place)
    return path


def claim_again(path: Path) -> Owner:
    """The owner file of an earlier workspace, whose directory is gone. Raises EnvironmentProblem where it is taken."""
    problem = _taken(path.parent)
    if os.path.lexists(path.with_suffix("")):
        raise problem
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise problem from error
    if not lock(descriptor) or not is_file_of(path, descriptor):
        os.close(descriptor)
        raise problem
    _mark(path, descriptor)
    return Owner(path, descriptor)


def _taken(place: Path) -> EnvironmentProblem:
    problem = "the place of an earlier workspace is taken; remove it, or start anew"
    return EnvironmentProblem(f"temporary directory {place}: {problem}")


def roots_of(path: Path) -> list[Path]:
    """The workspaces that an owner file stands for, as far as they are there."""
    alone = path.with_suffix("")
    found = [alone, *path.parent.glob(f"{alone.name}-{'[0-9a-f]' * 8}")]
    return [root for root in found if os.path.lexists(root)]


def lock(descriptor: int) -> bool:
    """Take the lock of an owner file; False where its owner lives."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_file_of(path: Path, descriptor: int) -> bool:
    """Whether the open file is the one at ``path``."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _mark(path: Path, descriptor: int) -> None:
    """Say whose file it is, all of it; where there is no room for that it goes. Raises EnvironmentProblem."""
    try:
        write_whole(descriptor, MARK)
    except OSError as error:
        path.unlink(missing_ok=True)
        os.close(descriptor)
        problem = f"temporary directory {path.parent}: {error.strerror}; set TMPDIR to one that can be written"
        raise EnvironmentProblem(problem) from error
