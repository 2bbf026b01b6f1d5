"""Cold: each command is a fresh process, started and supervised by a small server of our own."""

from __future__ import annotations

import os
import sys
import threading
from datetime import datetime
from pathlib import Path

from harness.errors import ControlPlaneError
from harness.executors._link import Link, LinkLostError
from harness.executors._wire import completed
from harness.schema.process import Completed, ProcessCommand

__all__ = ["ProcessExecutor"]

_TIMESHIFT = Path(__file__).with_name("_timeshift.py")


class ProcessExecutor:
    """Runs any command; safe to use from many threads at once.

    Output beyond ``output_bytes`` is counted and dropped; an endless writer is ended by the time bound. When a command
    ends, whatever it left running is killed: on Linux everything below it, also after ``setsid``; elsewhere its process
    group. Commands of the form ``python -m MODULE`` see the wall-clock time ``plane_time``, where one is given.
    ``confined``: a command writes below its ``folder`` only and reaches no network, as far as the machine holds that.
    """

    def __init__(self, *, plane_time: datetime | None = None, confined: bool = False) -> None:
        self._plane_time, self._confined = plane_time, confined
        self._lock = threading.Lock()
        self._link: Link | None = None
        self._stopped = threading.Event()

    def ways(self) -> tuple[str, ...]:
        """By what means commands are confined; starts the server for that. Raises ControlPlaneError or MachineError."""
        if not self._confined:
            return ()
        try:
            return self._server().ways
        except LinkLostError as lost:
            raise ControlPlaneError(f"the process that runs commands {lost.reason}") from None

    def run(self, command: ProcessCommand) -> Completed:
        """Run to the end or the bound. Raises ControlPlaneError or MachineError where nothing could be started."""
        command = self._timed(command)
        reason = ""
        for _ in range(2):
            try:
                return completed(self._server().call(command))
            except LinkLostError as lost:
                reason = lost.reason
                if lost.delivered:
                    break
        raise ControlPlaneError(f"the process that runs commands {reason}")

    def stop(self) -> None:
        """End what runs now and start nothing more: a ``run`` then raises ControlPlaneError. Safe in a handler."""
        self._stopped.set()
        link = self._link
        if link is not None:
            link.stop()

    def close(self) -> None:
        """End whatever is still alive; idempotent. A later ``run`` starts anew."""
        with self._lock:
            link, self._link = self._link, None
        if link is not None:
            link.close()

    def _server(self) -> Link:
        with self._lock:
            if self._link is not None and not self._link.alive:
                self._link.close()
                self._link = None
            if self._stopped.is_set():
                raise ControlPlaneError("the run was stopped before the command could run")
            if self._link is None:
                self._link = Link((sys.executable, "-I", "-S"), None, None, confined=self._confined)
                if self._stopped.is_set():  # while it was made
                    self._link.stop()
                self._link.wait_ready()
            return self._link

    def _timed(self, command: ProcessCommand) -> ProcessCommand:
        if self._plane_time is None or command.argv[1:2] != ("-m",):
            return command
        python, _, *rest = command.argv
        argv = (python, os.fspath(_TIMESHIFT), self._plane_time.isoformat(), *rest)
        return command.model_copy(update={"argv": argv})
