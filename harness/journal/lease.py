"""Who drives an episode: one driver at a time, told by a token that is renewed while it lives.

Beside the journal lie ``lease.json`` (the token and until when it holds) and ``TOKEN.alive``, which its holder keeps
locked. A holder whose lock is gone has ended, and anybody may take over at once. One that lives but does not renew its
lease in time (it was stopped, or its clock jumped) may be taken over as well; it learns of it at its next append.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness.documents import DocumentError, read_file
from harness.errors import OpeningRefusedError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.ports import Clock

__all__ = ["BEAT_S", "LEASE_S", "Lease", "Leased", "leased"]

#: Seconds that a lease holds, and after which it is renewed (runner specification E2).
LEASE_S = 300.0
BEAT_S = 60.0

_NAME, _LOCK = "lease.json", "lease.lock"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
#: No lease is larger, in bytes.
_MOST_BYTES = 65_536
#: Whether a driver is at an episode, whether one that was is gone, or is silent, or nobody can tell.
Leased = Literal["nobody", "driven", "gone", "silent", "unreadable"]


class Lease:
    """A lease on a folder. ``token`` must be one that nobody else has.

    Raises OpeningRefusedError: ``lease_held`` where a living driver holds it, ``setup_rejected`` where a link or
    something else stands in its place.
    """

    def __init__(self, folder: Path, clock: Clock, token: str) -> None:
        self._folder, self._clock, self._token = folder, clock, token
        # as texts, and not joined anew: each record of a journal asks twice
        self._lease, self._lock = str(folder / _NAME), str(folder / _LOCK)
        self._alive = -1
        self._until = clock.now()
        self._written: tuple[bytes, datetime] | None = None
        with self._locked():
            held = self._held()
            if held is not None and held[1] > clock.now() and self._lives(held[0]):
                raise OpeningRefusedError("lease_held", "another driver runs this episode")
            if held is not None:
                with suppress(OSError):
                    self._alive_path(held[0]).unlink()
            self._alive = _open(self._alive_path(token))
            fcntl.flock(self._alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._renew()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside, nobody can take the lease over.

        Raises OpeningRefusedError (``lease_lost``) where somebody did, StorageError where it cannot be renewed.
        """
        with self._locked():
            held = self._held()
            if held is None or held[0] != self._token:
                raise OpeningRefusedError("lease_lost", "another driver took this episode over")
            if self._until - self._clock.now() < timedelta(seconds=LEASE_S - BEAT_S):
                self._renew()
            yield

    def beat(self) -> None:
        """Renew the lease where it is due; what stands against that is left to ``held`` to tell."""
        with suppress(OpeningRefusedError, StorageError), self.held():
            pass

    def release(self) -> None:
        """Give it back; idempotent."""
        if self._alive < 0:
            return
        with suppress(OSError, OpeningRefusedError), self._locked():
            held = self._held()
            if held is not None and held[0] == self._token:
                (self._folder / _NAME).unlink(missing_ok=True)
            self._alive_path(self._token).unlink(missing_ok=True)
        os.close(self._alive)
        self._alive = -1

    def _renew(self) -> None:
        self._until = self._clock.now() + timedelta(seconds=LEASE_S)
        said = json.dumps({"token": self._token, "until": self._until.isoformat()}).encode("ascii")
        beside = self._folder / f".{_NAME}.part"
        try:
            beside.unlink(missing_ok=True)
            descriptor = os.open(beside, _FLAGS | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:  # noqa: PTH123  (a descriptor)
                file.write(said)  # all of it, or an error
            beside.replace(self._lease)
        except OSError as error:
            raise StorageError("the lease", error) from error
        self._written = said, self._until

    def _held(self) -> tuple[str, datetime] | None:
        """Token and end of the lease that is there; None where there is none that can be read."""
        if os.path.islink(self._lease):  # noqa: PTH114  (a text)
            raise OpeningRefusedError("setup_rejected", "the lease is a link")
        try:
            data = read_file(self._lease, most=_MOST_BYTES)
            if self._written is not None and self._written[0] == data:
                return self._token, self._written[1]
            return _told(data)
        except DocumentError as error:
            if error.missing:
                return None
            raise OpeningRefusedError("setup_rejected", f"the lease {error.problem}") from error

    def _lives(self, token: str) -> bool:
        return _lives(self._alive_path(token))

    def _alive_path(self, token: str) -> Path:
        return _alive_path(self._folder, token)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        descriptor = _open(self._lock)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _open(path: str | Path) -> int:
    try:
        descriptor = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        raise OpeningRefusedError("setup_rejected", f"the lease cannot be taken: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OpeningRefusedError("setup_rejected", "the lease cannot be taken: it is no regular file")
    return descriptor


def leased(folder: Path, now: datetime) -> Leased:
    """Whether somebody drives the episode in a folder; nothing in it is written, and who takes it over waits for us.

    ``gone``: its holder has ended without giving it back; ``silent``: it lives, and did not renew it in time.
    """
    path = folder / _NAME
    descriptor = _reading(folder / _LOCK)
    try:
        if descriptor >= 0:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        if not os.path.lexists(path):
            return "nobody"
        try:
            held = None if path.is_symlink() else _read(path)
        except DocumentError:
            held = None
        if held is None:
            return "unreadable"
        if not _lives(_alive_path(folder, held[0])):
            return "gone"
        return "driven" if held[1] > now else "silent"
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _read(path: Path) -> tuple[str, datetime] | None:
    """Token and end; None where that cannot be read of what is there. Raises DocumentError for no regular file."""
    return _told(read_file(path, most=_MOST_BYTES))


def _told(data: bytes) -> tuple[str, datetime] | None:
    try:
        said = json.loads(data)
        token, until = str(said["token"]), datetime.fromisoformat(said["until"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return (token, until) if token.isalnum() and until.tzinfo is not None else None


def _lives(alive: Path) -> bool:
    """Whether the holder of a token still has its lock."""
    descriptor = _reading(alive)
    if descriptor < 0:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _alive_path(folder: Path, token: str) -> Path:
    return folder / f"{token}.alive"


def _reading(path: Path) -> int:
    """A descriptor; less than 0 where there is none."""
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return -1
