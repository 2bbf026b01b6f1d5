"""An episode on disk: what its driver needs to go on with it after it was killed.

In a private folder (0700) lie the journal, the spool of raw texts, a lease, the place of the workspace, and the
workspace as it was bound and after each operation that changed it. Whoever opens the folder again runs the episode
from its start: what the journal and the spool already tell is taken from there, and the workspace is put back step by
step, so that nothing is asked, paid or done twice, and every decision is made again from what it was made from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tarfile import TarError
from typing import Literal

from harness.documents import DocumentError, make_folder, read_file
from harness.episode.heart import HEART
from harness.episode.times import Times
from harness.errors import OpeningRefusedError, StorageError
from harness.journal import FROM_OUTSIDE, DiskSpool, Journal, JournalFile, Lease
from harness.ports import Clock
from harness.schema.base import Digest
from harness.schema.outcome import Outcome
from harness.schema.record import FixtureBound, Record, Resumed, Suspended
from harness.workspace import remove_tree, restore, save

__all__ = ["JOURNAL", "PLACE", "SPOOL", "STATES", "DurableEpisode", "DurablePlace", "kept_digest"]

JOURNAL = "journal.jsonl"
SPOOL = "spool"
STATES = "states"
PLACE = "place.json"
#: What tells of the place, or of a digest, is no larger, in bytes.
_MOST_BYTES = 65_536
#: How the file is called that tells the digest of a state's bytes.
_DIGEST = ".digest"
_WHOLE_DIGEST = re.compile("sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class DurablePlace:
    """Where an episode is kept. ``token`` names this driver and nobody else; ``sync`` survives a power cut too.

    ``expects``: whether a journal must not be there yet (``new``), must be there (``begun``), or may be (``any``).
    """

    folder: Path
    token: str
    sync: bool = True
    expects: Literal["any", "new", "begun"] = "any"


class DurableEpisode:
    """An opened folder; close it in any case.

    ``journal`` holds the stored records, ``spool`` the texts, ``times`` what was measured. ``opened_at`` is when the
    episode was first opened, ``workspace`` the name its workspace had then (None: there is none to go on with).

    Raises OpeningRefusedError where another driver is at it, or where what is there cannot be gone on with.
    """

    def __init__(self, place: DurablePlace, clock: Clock) -> None:
        self._folder, self._sync = place.folder, place.sync
        self._apart: tuple[str, ...] = ()
        _expected(place)
        try:
            make_folder(self._folder, 0o700)
        except OSError as error:
            raise OpeningRefusedError("setup_rejected", f"the episode's folder: {error.strerror}") from error
        self._lease = Lease(self._folder, clock, place.token)
        HEART.keep(self._lease)
        try:
            _expected(place)  # another driver may have been here before the lease was given
            self._file = JournalFile(self._folder / JOURNAL, sync=place.sync)
        except BaseException:
            self._give_back()
            raise
        try:
            self._read(place, clock)
        except BaseException:
            self.close()
            raise

    def _read(self, place: DurablePlace, clock: Clock) -> None:
        stored = self._file.records
        self._begins_anew = not any(isinstance(record.payload, FixtureBound) for record in stored)
        if self._begins_anew:
            stored = ()  # nothing was done yet that outlived its driver
        self.journal = Journal(stored=stored, keep=self._keep)
        self.stored = stored
        self.spool = DiskSpool(self._folder / SPOOL, sync=place.sync)
        self.times = Times(self._folder)
        self._suspended_at: datetime | None = None
        self._held: tuple[datetime, int] | None = None
        self.workspace, self.opened_at = self._place(clock) if stored else (None, clock.now())
        self.journal.credit_s = self.waited(clock.now())

    @property
    def bound(self) -> Digest | None:
        """The state of the workspace that the stored journal starts from; None where nothing is stored."""
        bound = (record.payload for record in self.stored if isinstance(record.payload, FixtureBound))
        return next((payload.fingerprint for payload in bound), None)

    @property
    def waiting(self) -> Outcome | None:
        """What the episode waits for, where that is the last that is stored; None where it does not wait."""
        told = [record.payload for record in self.stored if not isinstance(record.payload, FROM_OUTSIDE)]
        last = told[-1] if told else None
        return last.outcome if isinstance(last, Suspended) else None

    def left(self, deadline_s: float, now: datetime) -> float:
        """Seconds until the deadline that was set when the episode was first opened.

        Time while nobody drove it counts; time in which it waited for a person does not.
        """
        credited = _credited(self.stored) + self.waited(now)
        return (self.opened_at + timedelta(seconds=deadline_s + credited) - now).total_seconds()

    def waited(self, now: datetime) -> float:
        """Seconds since it began to wait that are not credited yet, 0 where it does not wait now.

        It waits for a person, or for whoever raises a bound that stopped it.
        """
        if self._held is not None and self._held[1] == len(self.stored):
            return max((now - self._held[0]).total_seconds(), 0.0)
        if self.waiting is None or self._suspended_at is None:
            return 0.0
        since = max(seq for seq, record in enumerate(self.stored) if isinstance(record.payload, Suspended))
        return max((now - self._suspended_at).total_seconds() - _credited(self.stored[since:]), 0.0)

    def settle_in(self, workspace: str, *, apart: tuple[str, ...] = ()) -> None:
        """Remember where the workspace lies, before anything is made in it. Raises StorageError.

        What is ``apart`` in it is no part of its state: it is neither kept nor put back.
        """
        self._apart = apart
        self.workspace = workspace
        self._write_place()

    def suspend(self, now: datetime) -> None:
        """Remember when it began to wait; that it waits is in the journal. Raises StorageError."""
        if self.waiting is None:
            self._suspended_at = now
            self._write_place()

    def hold(self, now: datetime, records: int) -> None:
        """Remember that a bound of its host stopped it after so many records: it is not its own time that goes on then.

        Where it was held before and nothing came of that, it still is. Raises StorageError.
        """
        if self._held is None or self._held[1] != records:
            self._held = (now, records)
            self._write_place()

    def _write_place(self) -> None:
        said: dict[str, object] = {"workspace": self.workspace, "opened_at": self.opened_at.isoformat()}
        if self._held is not None:
            said["held"] = [self._held[0].isoformat(), self._held[1]]
        if self._suspended_at is not None:
            said["suspended_at"] = self._suspended_at.isoformat()
        text = json.dumps(said)
        beside = self._folder / f".{PLACE}.part"
        try:
            beside.unlink(missing_ok=True)
            beside.touch(mode=0o600, exist_ok=False)
            beside.write_text(text, "utf-8")
            beside.replace(self._folder / PLACE)
            (self._folder / STATES).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StorageError("the place of the workspace", error) from error

    def keep_state(self, root: Path, state: Digest) -> None:
        """Keep the workspace as it is now, under the digest of its state. Raises StorageError."""
        path = self._state(state)
        if path.exists():
            return
        try:
            told = path.with_suffix(_DIGEST)
            told.unlink(missing_ok=True)
            digest = save(root, path, apart=self._apart)
            told.touch(mode=0o600, exist_ok=False)
            told.write_text(digest, "ascii")
        except OSError as error:
            raise StorageError("the state of the workspace", error) from error

    def put_back(self, root: Path, state: Digest) -> None:
        """Make the workspace what it was in a kept state. Raises OpeningRefusedError where it is not kept."""
        try:
            restore(root, self._state(state), apart=self._apart)
        except (OSError, TarError, DocumentError) as error:
            raise OpeningRefusedError("fixture_mismatch", "a state of the workspace is not kept") from error

    def finish(self, receipt: Digest) -> None:
        """The episode is over: texts and states go, the receipt stays."""
        self.spool.purge(keep=receipt)
        with suppress(OSError):  # what cannot be removed goes with the folder, or with a purge
            remove_tree(self._folder / STATES)
            (self._folder / PLACE).unlink(missing_ok=True)

    def close(self) -> None:
        """Give the folder back; idempotent."""
        self._file.close()
        self._give_back()

    def _give_back(self) -> None:
        HEART.drop(self._lease)
        self._lease.release()

    def _keep(self, record: Record) -> None:
        with self._lease.held():
            if self._begins_anew:
                self._file.start_anew()
                self._begins_anew = False
            self._file.write(record)

    def _state(self, state: Digest) -> Path:
        return self._folder / STATES / f"{state.removeprefix('sha256:')}.tar"

    def _place(self, clock: Clock) -> tuple[str | None, datetime]:
        try:
            said = json.loads(read_file(self._folder / PLACE, most=_MOST_BYTES))
            since = said.get("suspended_at")
            self._suspended_at = None if since is None else datetime.fromisoformat(since)
            held = said.get("held")
            self._held = None if held is None else (datetime.fromisoformat(held[0]), int(held[1]))
            return str(said["workspace"]), datetime.fromisoformat(said["opened_at"])
        except DocumentError as error:
            if error.missing:
                return None, clock.now()  # it was finished
            raise OpeningRefusedError("fixture_mismatch", f"the place of its workspace {error.problem}") from error
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise OpeningRefusedError("fixture_mismatch", "where its workspace was is not known") from error


def kept_digest(state: Path) -> Digest | None:
    """The digest of the bytes of a kept state; None where a kill came before it was told."""
    try:
        told = read_file(state.with_suffix(_DIGEST), most=_MOST_BYTES).decode("ascii", "replace")
    except DocumentError:
        return None
    return told if _WHOLE_DIGEST.fullmatch(told) else None


def _credited(records: Sequence[Record]) -> float:
    return sum(record.payload.credited_s for record in records if isinstance(record.payload, Resumed))


def _expected(place: DurablePlace) -> None:
    there = (place.folder / JOURNAL).exists()
    if place.expects == "begun" and not there:
        raise OpeningRefusedError("not_found", "there is no journal of it")
    if place.expects == "new" and there:
        raise OpeningRefusedError("key_conflict", "there is a journal of it already")
