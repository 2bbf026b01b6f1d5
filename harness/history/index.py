"""Runs in one SQLite file that several processes may write: WAL, one transaction a change.

The file is a cache. What it says is never believed over a run folder, and whatever is wrong with it is mended by
making it anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from harness.errors import IndexDamagedError, StoreError
from harness.schema.history import IndexedRun

__all__ = ["VERSION", "HistoryIndex"]

#: ``PRAGMA user_version`` of the tables below.
VERSION: Final = 3
#: Seconds that a writer waits for another one.
WAIT_S: Final = 30.0

_TABLES = """
CREATE TABLE run (
    folder TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    row TEXT NOT NULL
) STRICT
"""


class HistoryIndex:
    """The index at ``path``; made with the first change. Each method opens and closes the file, from any thread.

    All methods raise StoreError where the file cannot be used (a full disk, no permission, a version of its own
    future), and IndexDamagedError, which is one, where making it anew helps.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def runs(self) -> tuple[IndexedRun, ...]:
        """All runs, newest first; none where there is no file."""
        if not self.path.exists():
            return ()
        with self._open() as database:
            rows = database.execute("SELECT row FROM run ORDER BY created_at DESC, folder DESC").fetchall()
        try:
            return tuple(IndexedRun.model_validate_json(row) for (row,) in rows)
        except ValidationError:
            raise IndexDamagedError(self.path, "holds something else than runs") from None

    def run(self, folder: str) -> IndexedRun | None:
        """The run of that folder as it was when it was put there; None where it is not known."""
        if not self.path.exists():
            return None
        with self._open() as database:
            found = database.execute("SELECT row FROM run WHERE folder = ?", (folder,)).fetchone()
        try:
            return None if found is None else IndexedRun.model_validate_json(found[0])
        except ValidationError:
            raise IndexDamagedError(self.path, "holds something else than runs") from None

    def put(self, run: IndexedRun) -> None:
        """Add a run, or what is known of it now."""
        with self._open() as database, _transaction(database):
            database.execute(*_put(run))

    def forget(self, folders: Iterable[str]) -> None:
        """Runs whose folders are gone."""
        with self._open() as database, _transaction(database):
            database.executemany("DELETE FROM run WHERE folder = ?", [(folder,) for folder in folders])

    def replace(self, runs: Iterable[IndexedRun]) -> None:
        """Make these the only runs, all at once: a reader, or a process that is killed, leaves the old or the new."""
        with self._open() as database, _transaction(database):
            database.execute("DELETE FROM run")
            for run in runs:
                database.execute(*_put(run))

    def remove(self) -> None:
        """Take the file away, with what SQLite keeps beside it."""
        try:
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be removed: {error.strerror}") from error

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")
                self._checked(database)
                yield database
        except sqlite3.OperationalError as error:
            raise StoreError(f"{self.path}: cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise IndexDamagedError(self.path, "is no index of runs, or a damaged one") from error

    def _checked(self, database: sqlite3.Connection) -> None:
        """Make the tables of a new file; refuse those of another version."""
        version = _version(database)
        if version == 0:
            with _transaction(database):
                if _version(database) == 0:  # nobody else made them meanwhile
                    if database.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
                        raise IndexDamagedError(self.path, "is no index of runs")
                    database.execute(_TABLES)
                    database.execute(f"PRAGMA user_version = {VERSION}")
            version = _version(database)
        if version > VERSION:
            raise StoreError(f"{self.path}: was written by a newer harness; use that one, or remove the file")
        if version < VERSION:
            raise IndexDamagedError(self.path, "was written by an older harness")


def _version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    return int(version)


@contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _put(run: IndexedRun) -> tuple[str, tuple[str, str, str]]:
    values = (run.folder, run.created_at, run.model_dump_json())
    return "INSERT OR REPLACE INTO run (folder, created_at, row) VALUES (?, ?, ?)", values
