"""Writes one run folder: nothing that was finished is lost, and every file is whole or absent.

While a run goes on, each finished episode is one synced line of ``episodes.part.jsonl``, in the order of finishing.
At the end the same bytes are laid out in plan order as ``receipts.jsonl`` and ``run.jsonl``, then the manifest names
their digests, then the part file goes. A process that is killed leaves the part file, which ``read_run`` reads.

Folders are made 0755 and files 0644, both less the umask: what is in them may be shown to anyone, and nobody else may
write. Everything passes the SecretGuard before it is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self, get_args

from pydantic_core import PydanticSerializationError

from harness.documents import DocumentError, read_file
from harness.errors import HarnessError, StoreError
from harness.receipt.canonical import line, link
from harness.receipt.claiming import MANIFEST, PART, claim, clear
from harness.receipt.kept import BETWEEN, Kept
from harness.receipt.locking import sole
from harness.receipt.manifest_text import guarded, manifest_pieces, seal_of
from harness.redaction import SecretGuard
from harness.schema.base import Digest, encoding
from harness.schema.counting import counted, worded
from harness.schema.run import EpisodeResult, Manifest, ReceiptLink, RunLogEntry
from harness.schema.verdict import Verdict

__all__ = ["LOG", "MANIFEST", "PART", "RECEIPTS", "RunStore", "write_report"]

RECEIPTS = "receipts.jsonl"
LOG = "run.jsonl"
_any_text = encoding(sort_keys=False)


class RunStore:
    """The writer of one run folder; its methods may be called from any thread.

    ``manifest`` is the plan, with no receipts yet; ``sync`` also survives a power cut (at the cost of one disk flush
    an episode). Raises StoreError where the folder is not empty or cannot be written, RedactionError where a secret
    was about to be written.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        guard: SecretGuard,
        *,
        sync: bool = True,
        finished: Sequence[tuple[int, EpisodeResult]] | None = None,
        aside: Callable[[], None] | None = None,
        lock: int | None = None,
        private: Mapping[str, bytes] | None = None,
    ) -> None:
        """``finished``, with their places in the plan, make it go on with the run that is in the folder.

        They were read under ``lock``, the descriptor of the folder that the caller locked and keeps; None: it is locked
        here. ``aside`` is called when it is locked, and before what else is in it is left out.
        ``private`` files of a new run are there before its manifest is, and only its owner may read them (0600).
        """
        self.folder, self._manifest, self._guard, self._sync = folder, manifest, guard, sync
        self.in_versions = manifest.in_versions
        self._lock = Lock()
        self._kept: dict[tuple[int, int], Kept] = {}
        self._waiting: set[tuple[int, int]] = set()
        self._stopped: tuple[str, ...] = ()
        self._size = 0
        private = private or {}
        self._private = tuple(private)
        self._is_new = finished is None
        self._part = self._folder = -1
        for _ in guarded(manifest_pieces(manifest, ()), guard, MANIFEST):
            pass  # nothing is made for a manifest that may not be written
        for name, data in private.items():
            guard.check(data, name)
        self._made = [
            place for place in (folder, *folder.parents) if not os.path.lexists(place)
        ]  # a name that is too long is told by whoever makes it
        if finished is None:
            claim(folder, private)
        self._folder = sole(folder) if lock is None else os.dup(lock)
        try:
            if aside is not None:
                aside()
            self._part = self._begin(private) if finished is None else self._go_on(finished)
            self._write_manifest(manifest, ())
        except BaseException:
            if self._part >= 0 and finished is None:
                self._unlink((PART, *private))
            self.close()
            raise

    def _begin(self, private: Mapping[str, bytes]) -> int:
        clear(self.folder, private)
        self._part = _open(self.folder / PART, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC)
        for name, data in private.items():
            _replace(self.folder / name, iter((data,)), sync=self._sync, mode=0o600)
        return self._part

    def _unlink(self, names: Iterable[str]) -> None:
        for name in names:
            with suppress(OSError):
                (self.folder / name).unlink()

    def _go_on(self, finished: Sequence[tuple[int, EpisodeResult]]) -> int:
        """A part file of what is finished takes the place of whatever the earlier writer left."""
        beside = self.folder / f".{PART}.part"
        self._part = _beside(beside, os.O_RDWR | os.O_APPEND)
        for position, result in finished:
            self.add(position, result)
        try:
            beside.replace(self.folder / PART)
        except OSError as error:
            raise _cannot_write(self.folder / PART, error) from error
        return self._part

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def add(self, position: int, result: EpisodeResult) -> None:
        """Keep a finished episode. ``position`` counts places of the plan from 0; on return the episode is kept.

        One that waited (``resumable``) is replaced by what came of it. Raises StoreError where the disk is full (what
        was kept before is whole, and this may be called again), and RedactionError where a secret was about to be
        written (nothing is).
        """
        if not 0 <= position < len(self._manifest.plan):
            raise HarnessError(f"place {position} is not in a plan of {len(self._manifest.plan)} episodes")
        receipt, log = line(result.receipt), _log_line(result.log)
        head = f'{{"position":{position},"receipt":'
        data = f"{head}{receipt}{BETWEEN}{log}}}\n".encode("ascii")
        self._guard.check(data, RECEIPTS)
        with self._lock:
            place = (position, result.receipt.attempt)
            if place in self._kept and place not in self._waiting:
                raise HarnessError(f"place {position}, attempt {result.receipt.attempt}, is already kept")
            at = self._size
            self._append(data)
            self._kept[place] = Kept.of(at + len(head), receipt, log, result)
            (self._waiting.add if result.log.resumable else self._waiting.discard)(place)

    def tell_stopped(self, why: Sequence[str]) -> None:
        """Why places of the plan are not played; ``finish`` writes it down where some are not."""
        self._stopped = tuple(why)

    def finish(self, finished_at: str) -> None:
        """Lay everything out in plan order; ``finished_at`` is UTC ISO 8601.

        The state is complete if every place of the plan has a receipt, else interrupted. A place that was tried
        several times counts with its last attempt in ``verdicts``. Raises StoreError; what was kept stays kept.
        """
        with self._lock:
            order = [self._kept[place] for place in sorted(self._kept)]
            last = {position: self._kept[position, attempt].verdict for position, attempt in sorted(self._kept)}
            manifest = self._manifest.model_copy(
                update={
                    "log": self._log_digest(order),
                    "finished_at": finished_at,
                    "state": "complete" if len(last) == len(self._manifest.plan) else "interrupted",
                    "stopped": () if len(last) == len(self._manifest.plan) else self._stopped,
                    "verdicts": {verdict: list(last.values()).count(verdict) for verdict in get_args(Verdict)},
                }
            )
            manifest = manifest.model_copy(update={"seal": seal_of(manifest, self._links(order))})
            _replace(
                self.folder / RECEIPTS,
                (self._read(*kept.receipt) for kept in order),
                sync=self._sync,
            )
            _replace(self.folder / LOG, (self._read(*kept.log) for kept in order), sync=self._sync)
            self._write_manifest(manifest, self._links(order))
            # kept until the manifest stands: before, it is what a reader goes by
            with suppress(OSError):
                (self.folder / PART).unlink()

    def _write_manifest(self, manifest: Manifest, links: Iterable[ReceiptLink]) -> None:
        pieces = guarded(manifest_pieces(manifest, links), self._guard, MANIFEST)
        _replace(self.folder / MANIFEST, pieces, sync=self._sync)

    def _links(self, order: Iterable[Kept]) -> Iterator[ReceiptLink]:
        """The chain, a link at a time."""
        last: ReceiptLink | None = None
        for kept in order:
            last = link(last, kept.key, kept.digest)
            yield last

    def discard(self) -> bool:
        """Take a run back that kept no episode: its files go, and the folders that were made for it.

        Returns whether it did; where an episode is kept, or an older run is gone on with, nothing is touched.
        """
        with self._lock:
            if self._kept or not self._is_new:
                return False
            self._unlink((PART, MANIFEST, *self._private))
            with suppress(OSError):
                for place in self._made:
                    place.rmdir()
            return True

    def keep_private(self, filename: str, data: bytes) -> None:
        """Put a file beside the receipts that only its owner may read (0600), whole or not at all.

        One that says the same already stays as it is. Raises StoreError or RedactionError.
        """
        self._guard.check(data, filename)
        path = self.folder / filename
        with suppress(DocumentError):
            if read_file(path) == data:
                return
        _replace(path, iter((data,)), sync=self._sync, mode=0o600)

    def write_report(self, filename: str, text: str) -> Path:
        """Write a report beside the receipts; ``filename`` is a bare name. Raises StoreError or RedactionError."""
        return write_report(self.folder, filename, text, self._guard)

    def close(self) -> None:
        """Release the part file; idempotent. Without ``finish`` it stays, for ``read_run``."""
        for descriptor in (self._part, self._folder):
            if descriptor >= 0:
                os.close(descriptor)
        self._part = self._folder = -1

    def _read(self, at: int, size: int) -> bytes:
        return os.pread(self._part, size, at) + b"\n"

    def _log_digest(self, order: Sequence[Kept]) -> Digest:
        seen = sha256()
        for kept in order:
            seen.update(self._read(*kept.log))
        return f"sha256:{seen.hexdigest()}"

    def _append(self, data: bytes) -> None:
        end = self._size + len(data)
        try:
            _write_all(self._part, data)
            if self._sync:
                os.fsync(self._part)
            self._size = end
        except OSError as error:
            kept = len({position for position, _ in self._kept.keys() - self._waiting})
            raise _cannot_write(
                self.folder / PART,
                error,
                f"; {counted(kept, 'episode')} finished before {worded(kept, 'is', 'are')} kept",
            ) from error
        finally:
            if self._size != end:
                # whatever came in between, Ctrl-C included: a torn line would make what follows unreadable
                with suppress(OSError):
                    os.ftruncate(self._part, self._size)


def _log_line(log: RunLogEntry) -> str:
    """In ASCII, and nothing invisible in it: pydantic is fast, and leaves one such character as it is."""
    try:
        text = log.model_dump_json(ensure_ascii=True)
    except PydanticSerializationError:  # a path that is no UTF-8
        text = "\x7f"
    return _any_text(log.model_dump(mode="json")) if "\x7f" in text else text


def write_report(folder: Path, filename: str, text: str, guard: SecretGuard) -> Path:
    """Write a report into a run folder that exists, over an older one of that name; ``filename`` is a bare name.

    Raises StoreError where it cannot be written, RedactionError where a secret was about to be.
    """
    if not filename or filename != Path(filename).name or filename in {MANIFEST, RECEIPTS, LOG, PART}:
        raise HarnessError(f"{filename!r} cannot be the name of a report")
    data = text.encode("utf-8", "backslashreplace")
    guard.check(data, filename)
    _replace(folder / filename, iter((data,)), sync=False)
    return folder / filename


def _replace(path: Path, chunks: Iterator[bytes], *, sync: bool, mode: int = 0o644) -> None:
    """Write a file beside and rename it over the old one, so that no reader sees a half."""
    beside = path.with_name(f".{path.name}.part")
    descriptor = _beside(beside, os.O_WRONLY, mode)
    try:
        try:
            for chunk in chunks:
                _write_all(descriptor, chunk)
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        beside.replace(path)
        if sync:
            _sync_folder(path.parent)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError):
            raise _cannot_write(path, error) from error
        raise


def _beside(path: Path, flags: int, mode: int = 0o644) -> int:
    """A file that is to take the place of another; what a killed writer, or somebody else, left there goes."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_write(path, error) from error
    return _open(path, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def _open(path: Path, flags: int, mode: int = 0o644) -> int:
    try:
        return os.open(path, flags, mode)
    except FileExistsError as error:
        raise StoreError(f"{path.parent}: another run is writing here; give another folder") from error
    except OSError as error:
        raise _cannot_write(path, error) from error


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cannot_write(path: Path, error: OSError, more: str = "") -> StoreError:
    return StoreError(f"{path}: cannot be written: {error.strerror or type(error).__name__}{more}")
