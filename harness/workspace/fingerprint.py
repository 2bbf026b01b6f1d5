"""The state of a workspace before and after: what is there, and what became of it.

Nothing is followed and nothing is opened but regular files, so links out of the workspace, devices and pipes are
facts of the state and never read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

from harness.errors import MachineError
from harness.schema.base import Digest, JsonValue, canonical_json, digest_bytes, digest_text
from harness.schema.evidence import Change, Entry, StateDigest
from harness.workspace.ticks import Ticks
from harness.workspace.whole import read_whole

__all__ = ["Fingerprinter", "diff", "take"]

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20

#: Larger files are hashed as they are, without hiding paths in them: 16 MiB.
_HIDE_MAX = 16 << 20

Hide = Callable[[str], str]
#: What a file says, by its path; for files that may say the same with other bytes.
Meanings = Mapping[Path, Callable[[], JsonValue]]
#: Names as they stand in paths, and the entries' own paths.
_Listing = tuple[tuple[str, bytes], ...]
#: An entry, and what it lists where it is a directory.
_Looked = tuple[Entry, _Listing | None]
_Identity = tuple[int, ...]


class _Seen(NamedTuple):
    """What a file or a directory was and held, and what told that it was this one in this state."""

    identity: _Identity
    held: _Looked


#: Stands for the root itself, which is no part of the state.
_ROOT = Entry(path="", type="directory", mode=0)


class Fingerprinter:
    """Takes the same workspace's state again and again, reading only what may have changed.

    A file is not read again, and a directory not listed again, while its device, inode, size, modification time and
    change time stand still. Whoever writes a file can set its modification time back, but never the change time
    (ctime): the kernel sets it at each write, rename and change of attributes. It may have the kernel's tick for grain,
    so that two writes within one tick look alike. Therefore ``Ticks`` are asked for the present before anything is
    read, and only what has a change time before it is remembered: a later write to a file, and a later change of what
    a directory lists, gets another change time.

    ``hide`` is applied to texts before they are hashed, so that digests do not depend on where the workspace lies.
    ``meanings`` are taken instead of the bytes of their files, while these are files.
    """

    def __init__(self, hide: Hide | None = None, meanings: Meanings | None = None) -> None:
        self._hide = hide
        self._meanings = {os.fsencode(path): say for path, say in (meanings or {}).items()}
        self._settled: dict[bytes, _Seen] = {}
        self._entries: dict[str, Entry] = {}
        self._last: StateDigest | None = None
        self._at_rest: tuple[bytes, frozenset[str], tuple[tuple[bytes, _Identity], ...]] | None = None
        self._ticks: Ticks | None = None
        self._reads_since: int | None = None
        self._reads = False

    def take(self, root: Path, *, exclude: Collection[str] = ()) -> StateDigest:
        r"""The state of everything below ``root``, ``exclude`` (paths relative to it, with all below) left out.

        Modes are permission bits; a link's is 0777. What cannot be read, and what is neither file, directory nor
        link, has the type ``other``. Bytes of a name that are not UTF-8 stand as ``\xNN``, and a backslash is
        doubled. What vanishes while it is looked at is left out. Raises MachineError where the machine lacks what
        looking takes: a state that was half seen would be somebody's change.
        """
        top = os.fsencode(root)
        if self._ticks is None:
            self._ticks = Ticks(top)  # which changes the attributes of the root: it is looked at after that
        self._reads = False
        left_out = frozenset(_escaped(os.fsencode(path)) for path in exclude)
        if self._last is not None and self._is_at_rest(top, left_out):
            return self._last
        looked_at = [top]
        entries = self._walked(top, left_out, looked_at)
        if self._last is None or self._last.entries != tuple(entries):
            self._last = _state(entries)
        self._at_rest = None
        if self._settled.keys() >= set(looked_at):
            self._at_rest = top, left_out, tuple((at, self._settled[at].identity) for at in looked_at)
        return self._last

    def _walked(self, top: bytes, left_out: frozenset[str], looked_at: list[bytes]) -> list[Entry]:
        """Everything below the root, sorted; whose places are added to ``looked_at``."""
        entries: list[Entry] = []
        waiting = [("", self._in_root(top))]
        while waiting:
            prefix, items = waiting.pop()
            for name, at in items or ():
                path = prefix + name
                if path in left_out:
                    continue
                looked_at.append(at)
                try:
                    entry, inner = self._entry(at, path)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    _wanting(error)
                    entry, inner = Entry(path=path, type="other", mode=0), None
                entries.append(entry)
                if inner:
                    waiting.append((path + "/", inner))
        entries.sort(key=_by_path)
        return entries

    def _is_at_rest(self, top: bytes, left_out: frozenset[str]) -> bool:
        """Whether all that the last look met, none of which could change unseen after it, is what it was then."""
        if self._at_rest is None or self._at_rest[:2] != (top, left_out):
            return False
        try:
            return all(_identity(os.lstat(at)) == identity for at, identity in self._at_rest[2])
        except OSError:
            return False

    def _entry(self, at: bytes, path: str) -> _Looked:
        """One entry, and what lies in it where it is a directory that can be listed."""
        found = os.lstat(at)
        known = self._settled.get(at)
        if known is not None and known.identity == _identity(found):
            return known.held
        kind = stat.S_IFMT(found.st_mode)
        if kind == stat.S_IFLNK:
            target = self._hidden(os.readlink(at))  # noqa: PTH115  (bytes)
            return self._made(path, "link", 0o777, digest_bytes(target)), None
        mode = stat.S_IMODE(found.st_mode)
        inner: _Listing | None = None
        settled: _Identity | None = None
        if kind == stat.S_IFDIR:
            inner, settled = self._listed(at, found)
            entry = self._made(path, "other" if inner is None else "directory", mode, None)
        else:
            digest, settled = self._file(at) if kind == stat.S_IFREG else (None, None)
            entry = self._made(path, "other" if digest is None else "file", mode, digest)
        if settled is not None and settled == _identity(found):
            self._settled[at] = _Seen(settled, (entry, inner))
        else:
            self._settled.pop(at, None)
        return entry, inner

    def _made(
        self, path: str, kind: Literal["file", "directory", "link", "other"], mode: int, digest: Digest | None
    ) -> Entry:
        """The entry of the last time where it is still the same."""
        last = self._entries.get(path)
        if last is None or last.digest != digest or last.mode != mode or last.type != kind:
            last = self._entries[path] = Entry(path=path, type=kind, mode=mode, digest=digest)
        return last

    def _present(self) -> int | None:
        """The tick before anything of this look was read."""
        if not self._reads:
            self._reads = True
            self._reads_since = None if self._ticks is None else self._ticks.now()
        return self._reads_since

    def _in_root(self, top: bytes) -> _Listing | None:
        """What the root lists, whatever it is itself."""
        found = _found(top)
        if found is None:
            return self._listed(top, None)[0]
        known = self._settled.get(top)
        if known is not None and known.identity == _identity(found):
            return known.held[1]
        listing, settled = self._listed(top, found)
        if settled is not None:
            self._settled[top] = _Seen(settled, (_ROOT, listing))
        else:
            self._settled.pop(top, None)
        return listing

    def _listed(self, folder: bytes, found: os.stat_result | None) -> tuple[_Listing | None, _Identity | None]:
        """What a directory lists, None where it cannot be listed; ``found`` was asked before.

        With its identity where no later change can leave that as it is.
        """
        present = self._present()
        try:
            listing = tuple((_escaped(name), folder + b"/" + name) for name in os.listdir(folder))  # noqa: PTH208
        except OSError as error:
            _wanting(error)
            return None, None
        is_settled = present is not None and found is not None and found.st_ctime_ns < present
        return listing, _identity(found) if is_settled and found is not None else None

    def _file(self, path: bytes) -> tuple[Digest | None, _Identity | None]:
        """The digest of a file, None where it cannot be read; its identity as ``_listed`` tells it."""
        present = self._present()
        try:
            descriptor = os.open(path, _READ)
        except FileNotFoundError:
            raise
        except OSError as error:
            _wanting(error)
            return None, None
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return None, None
            if path in self._meanings:
                return digest_bytes(self._hidden(canonical_json(self._meanings[path]()).encode("utf-8"))), None
            if self._hide is not None and found.st_size <= _HIDE_MAX:
                digest = digest_bytes(self._hidden(read_whole(descriptor, found.st_size, _HIDE_MAX)))
            else:
                content = sha256()
                while chunk := os.read(descriptor, _CHUNK):
                    content.update(chunk)
                digest = f"sha256:{content.hexdigest()}"
        finally:
            os.close(descriptor)
        return digest, _identity(found) if present is not None and found.st_ctime_ns < present else None

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


def _by_path(entry: Entry) -> str:
    return entry.path


def _state(entries: list[Entry]) -> StateDigest:
    rows = canonical_json([[entry.path, entry.type, entry.mode, entry.digest] for entry in entries])
    return StateDigest(entries=tuple(entries), digest=digest_text(rows))


def _found(top: bytes) -> os.stat_result | None:
    try:
        return os.lstat(top)
    except OSError:
        return None


def _wanting(error: OSError) -> None:
    if error.errno in MachineError.NUMBERS:
        raise MachineError(f"the workspace cannot be looked at: {error.strerror}") from error


def _identity(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _escaped(name: bytes) -> str:
    return name.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
