"""Warm: a Python program imported once in its own interpreter and forked for each call; same bytes as cold."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, runtime_checkable

from harness.errors import ControlPlaneError
from harness.executors._link import Link, LinkLostError
from harness.executors._wire import Answer, completed
from harness.ports import Executor
from harness.schema.process import Completed, ProcessCommand

__all__ = ["Confining", "WarmCounts", "WarmExecutor"]

#: The server's HOME: nothing can be there, and no other value contains it by chance.
_HOME = "/nonexistent/harness-plane-home"
#: What an interpreter or its loader reads before any program does.
_START_PREFIXES = ("PYTHON", "LC_", "LD_", "MALLOC_", "DYLD_", "GLIBC_")
_START_NAMES = ("LANG", "LANGUAGE", "TZ")

#: How often a server that died is replaced.
_RESTARTS = 1


@runtime_checkable
class Confining(Protocol):
    """An executor that tells by what means it confines what it runs."""

    def ways(self) -> tuple[str, ...]:
        """Empty where it confines nothing."""


@dataclass(frozen=True, slots=True)
class WarmCounts:
    """How calls were run: ``cold`` went to the fallback, ``restarts`` are servers started after the first."""

    warm: int = 0
    cold: int = 0
    restarts: int = 0


class WarmExecutor:
    """Forks calls of ``python -m module``; anything else goes to ``fallback``. Safe to use from many threads.

    A call goes to ``fallback`` too where a fork could differ from a fresh process: no HOME, or another value than the
    server's for a variable that the interpreter or the module's import reads. The first call's environment is the
    server's. A server that died is started once more; after a second death everything is cold. A call during which the
    server died is never repeated: what it did is unknown, so it raises ControlPlaneError.

    ``parser`` names the module's function that builds its argument parser, called once. ``plane_time`` is the
    wall-clock time that the module sees. Calls are confined by the means of ``fallback``, as far as it tells any
    (``ways``); a server that has others is not used, and everything is cold. ``fallback`` is not closed here.
    """

    def __init__(
        self,
        python: Path,
        *,
        module: str = "loopx.cli",
        parser: str = "build_parser",
        fallback: Executor,
        plane_time: datetime | None = None,
    ) -> None:
        self._prefix = (str(python), "-m", module)
        self._spec = {
            "module": module,
            "parser": parser,
            "time": plane_time.isoformat() if plane_time is not None else "",
        }
        self._fallback = fallback
        self._lock = threading.Lock()
        self._link: Link | None = None
        self._env: dict[str, str] = {}
        self._reads: frozenset[str] = frozenset()
        self._warm, self._cold, self._deaths, self._restarts = 0, 0, 0, 0
        self._usable = True
        self._stopped = threading.Event()

    @property
    def counts(self) -> WarmCounts:
        """What was run how, so far."""
        return WarmCounts(self._warm, self._cold, self._restarts)

    @property
    def server_pid(self) -> int | None:
        """The server's process id, or None where none runs."""
        link = self._link
        return link.pid if link is not None and link.alive else None

    def run(self, command: ProcessCommand) -> Completed:
        """Run to the end or the bound. Raises ControlPlaneError or MachineError where nothing could be started."""
        link = self._ready(command) if command.argv[:3] == self._prefix else None
        while link is not None:
            try:
                answer = link.call(command)
            except LinkLostError as lost:
                if lost.delivered:
                    raise ControlPlaneError(f"the warm control plane {lost.reason}") from None
                link = self._ready(command)
            else:
                self._learned(answer)
                return completed(answer)
        with self._lock:
            self._cold += 1
        return self._fallback.run(command)

    def stop(self) -> None:
        """End what runs now, a server that is starting too, and start nothing more. Safe in a signal's handler."""
        self._stopped.set()
        link = self._link
        if link is not None:
            link.stop()

    def close(self) -> None:
        """End the server and what it runs; idempotent. A later ``run`` starts anew."""
        with self._lock:
            link, self._link = self._link, None
        if link is not None:
            link.close()

    def _ready(self, command: ProcessCommand) -> Link | None:
        """The server, where it may serve this command."""
        with self._lock:
            if self._link is not None and not self._link.alive:
                self._link.close()
                self._link = None
                self._deaths += 1
            if self._stopped.is_set():
                raise ControlPlaneError("the run was stopped before the command could run")
            if self._link is None and self._usable and self._deaths <= _RESTARTS and "HOME" in command.env:
                self._start(command.env)
            return self._link if self._link is not None and self._serves(command.env) else None

    def _start(self, env: Mapping[str, str]) -> None:
        self._restarts += self._deaths > self._restarts
        self._env = {**env, "HOME": _HOME}
        try:
            ways = self._fallback.ways() if isinstance(self._fallback, Confining) else ()
            self._link = Link(self._prefix[:1], self._env, self._spec, confined=bool(ways))
            if self._stopped.is_set():  # while it was made
                self._link.stop()
            self._link.wait_ready()
        except (LinkLostError, ControlPlaneError):
            self._link, self._usable = None, False
            return
        if self._link.ways != ways:
            self._link.close()
            self._link, self._usable = None, False
            return
        self._note_reads(self._link.hello.get("reads"))

    def _serves(self, env: Mapping[str, str]) -> bool:
        if "HOME" not in env:
            return False
        differing = {name for name in {*env, *self._env} if env.get(name) != self._env.get(name)} - {"HOME"}
        return not any(
            name in self._reads or name in _START_NAMES or name.startswith(_START_PREFIXES) for name in differing
        )

    def _learned(self, answer: Answer) -> None:
        note = answer[0].get("note")
        with self._lock:
            self._warm += 1
            if isinstance(note, dict):
                self._note_reads(note.get("reads"))

    def _note_reads(self, names: object) -> None:
        if isinstance(names, list):
            self._reads = self._reads | {str(name) for name in names}
