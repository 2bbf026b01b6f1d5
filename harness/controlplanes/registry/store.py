"""The file of the registry: tables, transactions, rows. Knows no rule."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.controlplanes.registry.refusal import Refusal
from harness.errors import ControlPlaneError, MachineError
from harness.schema.base import JsonValue

__all__ = ["Rows", "Task", "create", "transaction"]

#: Longest wait for somebody else's transaction, in seconds.
LOCK_S: Final = 1.0

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS tasks (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL, owner TEXT, version INTEGER NOT NULL, result TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dependencies (
  task TEXT NOT NULL REFERENCES tasks, needs TEXT NOT NULL REFERENCES tasks, PRIMARY KEY (task, needs)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS comments (
  task TEXT NOT NULL REFERENCES tasks, number INTEGER NOT NULL, agent TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (task, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS watchers (
  task TEXT NOT NULL REFERENCES tasks, number INTEGER NOT NULL, after TEXT NOT NULL, agent TEXT NOT NULL,
  text TEXT NOT NULL, PRIMARY KEY (task, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answered (key TEXT PRIMARY KEY, asked TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS received (
  number INTEGER PRIMARY KEY, key TEXT, operation TEXT NOT NULL, arguments TEXT NOT NULL, error TEXT,
  UNIQUE (key, operation, arguments)
);
"""

#: Primary result codes of SQLite.
_BUSY: Final = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
_MACHINE: Final = frozenset((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN))


@dataclass(frozen=True, slots=True)
class Task:
    """One row, without what hangs on it."""

    id: str
    title: str
    status: str
    owner: str | None
    version: int
    result: str | None


class Rows:
    """The rows inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def tasks(self) -> list[Task]:
        """All of them, by id."""
        rows = self._connection.execute("SELECT id, title, status, owner, version, result FROM tasks ORDER BY id")
        return [Task(*row) for row in rows]

    def task(self, name: str) -> Task | None:
        """One of them."""
        query = "SELECT id, title, status, owner, version, result FROM tasks WHERE id = ?"
        row = self._connection.execute(query, (name,)).fetchone()
        return None if row is None else Task(*row)

    def put(self, task: Task) -> None:
        """Write a row, new or changed."""
        self._connection.execute(
            "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET title = excluded.title,"
            " status = excluded.status, owner = excluded.owner, version = excluded.version, result = excluded.result",
            (task.id, task.title, task.status, task.owner, task.version, task.result),
        )

    def needs(self, name: str) -> list[str]:
        """Ids of the tasks that a task depends on, sorted."""
        rows = self._connection.execute("SELECT needs FROM dependencies WHERE task = ? ORDER BY needs", (name,))
        return [needed for (needed,) in rows]

    def set_needs(self, name: str, needed: list[str]) -> None:
        """Replace what a task depends on."""
        self._connection.execute("DELETE FROM dependencies WHERE task = ?", (name,))
        self._connection.executemany("INSERT INTO dependencies VALUES (?, ?)", [(name, other) for other in needed])

    def comments(self, name: str) -> list[JsonValue]:
        """Comments of a task in the order they were made."""
        rows = self._connection.execute("SELECT agent, text FROM comments WHERE task = ? ORDER BY number", (name,))
        return [{"agent": agent, "text": text} for agent, text in rows]

    def add_comment(self, name: str, agent: str, text: str) -> None:
        """One more."""
        self._connection.execute(
            "INSERT INTO comments SELECT ?, count(*) + 1, ?, ? FROM comments WHERE task = ?", (name, agent, text, name)
        )

    def watchers(self, name: str) -> list[tuple[str, str, str]]:
        """What is waited for, by which agent, and what it says then; in the order they were set up."""
        rows = self._connection.execute(
            "SELECT after, agent, text FROM watchers WHERE task = ? ORDER BY number", (name,)
        )
        return [(after, agent, text) for after, agent, text in rows]

    def add_watcher(self, name: str, after: str, agent: str, text: str) -> None:
        """One more."""
        self._connection.execute(
            "INSERT INTO watchers SELECT ?, count(*) + 1, ?, ?, ? FROM watchers WHERE task = ?",
            (name, after, agent, text, name),
        )

    def answered(self, key: str) -> tuple[str, str] | None:
        """What was asked with a key, and what the answer was; None for a key that was not seen."""
        row = self._connection.execute("SELECT asked, answer FROM answered WHERE key = ?", (key,)).fetchone()
        return None if row is None else (row[0], row[1])

    def add_answered(self, key: str, asked: str, answer: str) -> None:
        """Remember the answer to what was asked with a key."""
        self._connection.execute("INSERT INTO answered VALUES (?, ?, ?)", (key, asked, answer))

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Where anything is raised in it, nothing that it wrote stays."""
        self._connection.execute("SAVEPOINT whole")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK TO whole")
            raise
        finally:
            self._connection.execute("RELEASE whole")

    def received(self) -> list[tuple[str, str, str | None]]:
        """Every call that came: operation, arguments, and the code of a refusal; in order."""
        rows = self._connection.execute("SELECT operation, arguments, error FROM received ORDER BY number")
        return [(operation, arguments, error) for operation, arguments, error in rows]

    def add_received(self, key: str | None, operation: str, arguments: str, error: str | None) -> None:
        """One more; with a key that was asked with before it is the same call, and what it came to now counts."""
        self._connection.execute(
            "INSERT INTO received (key, operation, arguments, error) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (key, operation, arguments) DO UPDATE SET error = excluded.error",
            (key, operation, arguments, error),
        )


def create(file: Path) -> None:
    """Make the tables where there are none. Raises ControlPlaneError for a file that is no registry, MachineError."""
    with _connected(file, LOCK_S) as connection:
        connection.executescript(_TABLES)
        Rows(connection).tasks()


@contextmanager
def transaction(file: Path, *, timeout_s: float) -> Iterator[Rows]:
    """Rows that nobody else changes meanwhile; kept at the end, or none of it where anything is raised.

    Raises Refusal where somebody else holds the registry for longer than ``timeout_s`` (at most ``LOCK_S``),
    ControlPlaneError where it cannot be read, MachineError where there is no room.
    """
    with _connected(file, min(timeout_s, LOCK_S)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield Rows(connection)
        connection.execute("COMMIT")


@contextmanager
def _connected(file: Path, timeout_s: float) -> Iterator[sqlite3.Connection]:
    """A connection for one use: a file that was put back meanwhile is seen, and nothing lies beside it afterwards."""
    # who is kept to the workspace may make links in it; harness, which is not, must not follow them out of it
    if os.path.realpath(file) != os.path.abspath(file):  # noqa: PTH100
        raise ControlPlaneError("the registry cannot be used: its place has become a link")
    try:
        with closing(sqlite3.connect(file, timeout=timeout_s, isolation_level=None)) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = OFF")  # what must outlive a power cut is kept outside of it
            yield connection
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _BUSY:
            raise Refusal("registry_locked", "somebody else is writing; ask again") from None
        if code in _MACHINE:
            raise MachineError(f"the registry cannot be written: {error}") from error
        raise ControlPlaneError(f"the registry cannot be used: {error}") from error
