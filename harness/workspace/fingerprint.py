"""The state of a workspace before and after: what is there, and what became of it.

Nothing is followed and nothing is opened but regular files, so links out of the workspace, devices and pipes are
facts of the state and never read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from harness.errors import MachineError
from harness.schema.base import Digest, JsonValue, canonical_json, digest_bytes, digest_text
from harness.schema.evidence import Change, Entry, StateDigest

__all__ = ["Fingerprinter", "diff", "take"]

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20

#: Larger files are hashed as they are, without hiding paths in them: 16 MiB.
_HIDE_MAX = 16 << 20

Hide = Callable[[str], str]
#: What a file says, by its path; for files that may say the same with other bytes.
Meanings = Mapping[Path, Callable[[], JsonValue]]
_Listing = list[os.DirEntry[bytes]]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A file's digest and what told that it was this file in this state."""

    identity: tuple[int, ...]
    digest: Digest


class Fingerprinter:
    """Takes the same workspace's state again and again, reading only what may have changed.

    A file is not read again while its device, inode, size, modification time and change time stand still. Whoever
    writes a file can set its modification time back, but never the change time (ctime): the kernel sets it at each
    write, rename and change of attributes. It has the kernel's tick for grain, so two writes within one tick look
    alike. Therefore the root's own attributes are set to what they are before anything is read, which stamps it with
    the present tick; only files whose change time lies before that stamp are remembered: a later write to one of
    them gets a later change time.

    ``hide`` is applied to texts before they are hashed, so that digests do not depend on where the workspace lies.
    ``meanings`` are taken instead of the bytes of their files, while these are files.
    """

    def __init__(self, hide: Hide | None = None, meanings: Meanings | None = None) -> None:
        self._hide = hide
        self._meanings = {os.fsencode(path): say for path, say in (meanings or {}).items()}
        self._seen: dict[bytes, _Seen] = {}

    def take(self, root: Path, *, exclude: Collection[str] = ()) -> StateDigest:
        r"""The state of everything below ``root``, ``exclude`` (paths relative to it, with all below) left out.

        Modes are permission bits; a link's is 0777. What cannot be read, and what is neither file, directory nor
        link, has the type ``other``. Bytes of a name that are not UTF-8 stand as ``\xNN``, and a backslash is
        doubled. What vanishes while it is looked at is left out. Raises MachineError where the machine lacks what
        looking takes: a state that was half seen would be somebody's change.
        """
        top = os.fsencode(root)
        present = _stamp(top)
        left_out = {_escaped(os.fsencode(path)) for path in exclude}
        entries: list[Entry] = []
        waiting = [("", _listed(top))]
        while waiting:
            prefix, items = waiting.pop()
            for item in items or ():
                path = prefix + _escaped(item.name)
                if path in left_out:
                    continue
                try:
                    entry, inner = self._entry(item, path, present)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    _wanting(error)
                    entry, inner = Entry(path=path, type="other", mode=0), None
                entries.append(entry)
                waiting.append((path + "/", inner))
        return _state(entries)

    def _entry(self, item: os.DirEntry[bytes], path: str, present: int | None) -> tuple[Entry, _Listing | None]:
        """One entry, and what lies in it where it is a directory that can be listed."""
        found = item.stat(follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            target = self._hidden(os.readlink(item.path))  # noqa: PTH115  (bytes)
            return Entry(path=path, type="link", mode=0o777, digest=digest_bytes(target)), None
        mode = stat.S_IMODE(found.st_mode)
        if stat.S_ISDIR(found.st_mode):
            inner = _listed(item.path)
            return Entry(path=path, type="other" if inner is None else "directory", mode=mode), inner
        digest = self._file(item.path, present) if stat.S_ISREG(found.st_mode) else None
        return Entry(path=path, type="other" if digest is None else "file", mode=mode, digest=digest), None

    def _file(self, path: bytes, present: int | None) -> Digest | None:
        """The digest of a file, None where it cannot be read."""
        known = self._seen.get(path)
        if known is not None and known.identity == _identity(os.lstat(path)):
            return known.digest
        try:
            descriptor = os.open(path, _READ)
        except FileNotFoundError:
            raise
        except OSError as error:
            _wanting(error)
            return None
        with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123  (a descriptor)
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return None
            if path in self._meanings:
                return digest_bytes(self._hidden(canonical_json(self._meanings[path]()).encode("utf-8")))
            if self._hide is not None and found.st_size <= _HIDE_MAX:
                digest = digest_bytes(self._hidden(file.read(_HIDE_MAX + 1)))
            else:
                content = sha256()
                while chunk := file.read(_CHUNK):
                    content.update(chunk)
                digest = f"sha256:{content.hexdigest()}"
        if present is not None and found.st_ctime_ns < present:
            self._seen[path] = _Seen(_identity(found), digest)
        return digest

    def _hidden(self, data: bytes) -> bytes:
        if self._hide is None:
            return data
        return self._hide(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def take(root: Path, *, exclude: Collection[str] = (), hide: Hide | None = None) -> StateDigest:
    """The state of everything below ``root``, once; as ``Fingerprinter.take``."""
    return Fingerprinter(hide).take(root, exclude=exclude)


def diff(before: StateDigest, after: StateDigest) -> tuple[Change, ...]:
    """What was added, removed or modified (type, mode or content), sorted by path."""
    if before.digest == after.digest:
        return ()
    old = {entry.path: entry for entry in before.entries}
    new = {entry.path: entry for entry in after.entries}
    changes = []
    for path in sorted(old.keys() | new.keys()):
        if path not in old:
            changes.append(Change(path=path, change="added"))
        elif path not in new:
            changes.append(Change(path=path, change="removed"))
        elif old[path] != new[path]:
            changes.append(Change(path=path, change="modified"))
    return tuple(changes)


def _state(entries: list[Entry]) -> StateDigest:
    entries.sort(key=lambda entry: entry.path)
    rows = canonical_json([[entry.path, entry.type, entry.mode, entry.digest] for entry in entries])
    return StateDigest(entries=tuple(entries), digest=digest_text(rows))


def _stamp(top: bytes) -> int | None:
    """The present, as the file system counts it; None where this user may not ask."""
    try:
        os.chmod(top, stat.S_IMODE(os.lstat(top).st_mode))  # noqa: PTH101  (bytes)
        return os.lstat(top).st_ctime_ns
    except OSError:
        return None


def _listed(folder: bytes) -> _Listing | None:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError as error:
        _wanting(error)
        return None


def _wanting(error: OSError) -> None:
    if error.errno in MachineError.NUMBERS:
        raise MachineError(f"the workspace cannot be looked at: {error.strerror}") from error


def _identity(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _escaped(name: bytes) -> str:
    return name.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
