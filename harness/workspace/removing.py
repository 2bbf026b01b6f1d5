"""Workspaces that nobody needs any more are removed by a process beside: a disc lets one wait for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

from harness.workspace.removal import GONE, SCRIPT, is_removed
from harness.workspace.whole import write_whole

__all__ = ["Left", "Removals", "leave"]

#: Told once of a workspace, by whichever thread: whether it is gone.
Left = Callable[[bool], None]

#: So many removals are done by who asks for them: to begin a process takes longer than they do.
ALONE: Final = 8
#: How many may be under way or wait; one more is done by who asks for it.
WAITING: Final = 64


def leave(root: Path, left: Left) -> None:
    """Remove a workspace here and now, whoever presses a key meanwhile."""
    is_gone = False
    try:
        is_gone = is_removed(root)
    except KeyboardInterrupt:
        is_gone = is_removed(root)
        raise
    finally:
        left(is_gone)


class Removals:
    """Removes workspaces in a process beside this one; safe to use from any thread.

    On a thread of this process each step of a removal would interrupt the episodes that are played meanwhile, for they
    share an interpreter. The other process begins with the first removal after ``alone``, at most ``waiting`` are its
    at a time, and where it cannot begin, or ends, this process does its work.
    """

    def __init__(self, *, alone: int = ALONE, waiting: int = WAITING) -> None:
        self._alone, self._waiting = alone, waiting
        self._lock = Lock()
        self._remover: _Remover | None = None
        self._is_closed = False

    def hand_over(self, root: Path, left: Left) -> None:
        """Have ``root`` removed, soon or here and now, and ``left`` told of it."""
        with self._lock:
            told = self._remover.told() if self._remover is not None else []
            is_asked = self._is_asked(root, left)
        try:
            _tell(told)
        finally:
            if not is_asked:
                leave(root, left)

    def close(self) -> None:
        """Wait until everything is removed; idempotent."""
        with self._lock:
            self._is_closed = True
            told = self._remover.end() if self._remover is not None else []
        _tell(told)

    def _is_asked(self, root: Path, left: Left) -> bool:
        if self._is_closed or self._alone > 0:
            self._alone -= 1
            return False
        if self._remover is None:
            self._remover = _Remover()
        return self._remover.asked < self._waiting and self._remover.ask(root, left)


#: A removal, what is told of it, and whether it came to pass: None where nobody can tell.
_Told = tuple[Path, Left, bool | None]


def _tell(told: list[_Told]) -> None:
    for root, left, is_gone in told:
        if is_gone is None:
            leave(root, left)
        else:
            left(is_gone)


class _Remover:
    """The process: reads paths, and answers each in turn with a byte."""

    def __init__(self) -> None:
        self._asked: deque[tuple[Path, Left]] = deque()
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            # in a session of its own: a key pressed at the terminal is for this process to answer
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", SCRIPT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                bufsize=0,
                start_new_session=True,
            )
            if self._process.stdout is not None:
                os.set_blocking(self._process.stdout.fileno(), False)

    @property
    def asked(self) -> int:
        """Removals that it has not answered yet."""
        return len(self._asked)

    def ask(self, root: Path, left: Left) -> bool:
        """Have it remove a workspace; False where there is no process that could."""
        if self._process is None or self._process.stdin is None:
            return False
        try:
            write_whole(self._process.stdin.fileno(), os.fsencode(root) + b"\0")
        except BrokenPipeError:
            return False
        self._asked.append((root, left))
        return True

    def told(self) -> list[_Told]:
        """What it has answered since it was last asked; all that it was asked for, where it ended before its time."""
        if self._process is None or self._process.stdout is None:
            return []
        try:
            told = os.read(self._process.stdout.fileno(), WAITING)
        except BlockingIOError:
            return []
        return self._answered(told) if told else self.end()

    def end(self) -> list[_Told]:
        """Wait until it has done what it was asked for; idempotent."""
        process, self._process = self._process, None
        if process is None or process.stdin is None or process.stdout is None:
            return []
        process.stdin.close()
        os.set_blocking(process.stdout.fileno(), True)
        with process:
            told = self._answered(process.stdout.read())
        lost: list[_Told] = [(root, left, None) for root, left in self._asked]
        self._asked.clear()
        return told + lost

    def _answered(self, answers: bytes) -> list[_Told]:
        return [(*self._asked.popleft(), answer == GONE) for answer in answers]
