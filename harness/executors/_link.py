"""The owner's end of a fork server: starts it, sends commands from any thread, hands each its answer."""

from __future__ import annotations

import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from harness.errors import ControlPlaneError, MachineError
from harness.executors._frames import split
from harness.executors._wire import Answer, read_answer, request
from harness.schema.process import ProcessCommand

__all__ = ["Link", "LinkLostError"]

_GUARD, _SERVER = (Path(__file__).with_name(name) for name in ("_guard.py", "_forkserver.py"))
#: The guard's interpreter is ours and sees nothing of the plane's.
_OURS = (sys.executable, "-I", "-S", str(_GUARD))
_CHUNK = 65536
#: Seconds: for a server to be ready, and beyond a command's own bound before the server counts as hung.
_READY_S, _HUNG_S = 30.0, 30.0
_END_S = 10.0
#: Seconds for the reader to see the end of a server that has ended.
_HELD_S = 2.0


class LinkLostError(Exception):
    """The server is not there; ``delivered`` says whether the command may have been started.

    ``reason`` completes "the process that runs commands ...".
    """

    def __init__(self, *, delivered: bool, reason: str = "ended before the command did") -> None:
        self.delivered, self.reason = delivered, reason
        super().__init__(reason)


class Link:
    """One running server, below a guard that leaves nothing of it: see ``_guard``.

    ``wait_ready`` comes before the first ``call``; ``stop`` may be called at any time, from any thread and from a
    signal's handler. Raises MachineError or ControlPlaneError where nothing can be started.
    """

    def __init__(
        self,
        interpreter: tuple[str, ...],
        env: dict[str, str] | None,
        spec: dict[str, str] | None,
        *,
        confined: bool = False,
    ) -> None:
        """``spec`` is what the server imports, see ``_preload``; ``confined``: what it runs is held to one folder."""
        how = "confined" if confined else "free"
        arguments = [*_OURS, "", *interpreter, str(_SERVER), how, *([json.dumps(spec)] if spec else [])]
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[Answer | None]] = {}
        self._alive = True
        self._broken = False
        self._hello: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._waiting[0] = self._hello
        self._server_pid = 0
        self.hello: dict[str, object] = {}
        try:
            self._start(arguments, env)
        except OSError as error:
            said = f"cannot start {interpreter[0]}: {os.strerror(error.errno or 0)}"
            raise (MachineError if error.errno in MachineError.NUMBERS else ControlPlaneError)(said) from None
        self._reader = threading.Thread(target=self._read, name="harness-link", daemon=True)
        self._reader.start()

    def _start(self, arguments: list[str], env: dict[str, str] | None) -> None:
        life, alive = os.pipe()
        arguments[len(_OURS)] = str(life)
        #: Taken out by whoever closes it, so that nobody closes another's descriptor.
        self._life = [alive]
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=env,
                start_new_session=True,
                bufsize=0,
                pass_fds=(life,),
            )
        except OSError:
            self.stop()
            raise
        finally:
            os.close(life)

    def wait_ready(self) -> None:
        """Wait for the server's first word. Raises LinkLostError where it does not come; the link is closed then."""
        try:
            answer = self._hello.get(timeout=_READY_S)
        except queue.Empty:
            answer = None
        if answer is None:
            self.stop()
            self.close()
            raise LinkLostError(delivered=False, reason=self._reason("did not come up"))
        self.hello = answer[0]
        pid = self.hello.get("pid")
        self._server_pid = pid if isinstance(pid, int) else 0

    @property
    def alive(self) -> bool:
        """False once the server's end was seen."""
        return self._alive

    @property
    def ways(self) -> tuple[str, ...]:
        """By what means it said that it confines what it runs."""
        told = self.hello.get("ways")
        return tuple(map(str, told)) if isinstance(told, list) else ()

    @property
    def pid(self) -> int:
        """The server's process id; its guard's where it told none."""
        return self._server_pid or self._process.pid

    def stop(self) -> None:
        """Let the guard kill everything now; returns at once. Whoever waits for an answer gets LinkLostError."""
        with suppress(IndexError):
            os.close(self._life.pop())

    def call(self, command: ProcessCommand) -> Answer:
        """Run one command to its end. Raises LinkLostError; ControlPlaneError for what no process can be given."""
        box: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        number = next(self._ids)
        data = request(number, command)
        with self._lock:
            if not self._alive:
                raise LinkLostError(delivered=False)
            self._waiting[number] = box
            try:
                self._send(data)
            except BrokenPipeError:
                # The reader may not have seen the end yet; whoever asks next must not be sent here again.
                self._alive = False
                self._waiting.pop(number, None)
                raise LinkLostError(delivered=False) from None
        try:
            answer = box.get(timeout=command.timeout_s + _HUNG_S)
        except queue.Empty:
            self.stop()
            raise LinkLostError(delivered=True, reason="did not answer in time") from None
        if answer is None or answer[0].get("lost"):
            raise LinkLostError(delivered=True, reason=self._reason())
        return answer

    def close(self) -> None:
        """Close the server's input, which ends it and all it runs; idempotent."""
        with self._lock:
            stdin = self._process.stdin
            if stdin is not None and not stdin.closed:
                with suppress(BrokenPipeError):
                    stdin.close()
        for bound in (_END_S, _END_S, None):
            try:
                self._process.wait(bound)
                break
            except subprocess.TimeoutExpired:
                # first what the guard does for us; a guard that somebody stopped takes the server with it
                if self._life:
                    self.stop()
                else:
                    self._process.kill()
        self.stop()
        # what escaped a guard that was killed may hold the pipe: nobody waits for that
        self._reader.join(_HELD_S)

    def _reason(self, plainly: str = "ended before the command did") -> str:
        return "sent something that is no answer" if self._broken else plainly

    def _send(self, data: bytes) -> None:
        if self._process.stdin is None or self._process.stdin.closed:
            raise BrokenPipeError
        view = memoryview(data)
        while view:
            view = view[self._process.stdin.write(view) or 0 :]

    def _read(self) -> None:
        """Hand out answers until the server's end; then everyone who waits is told."""
        source = self._process.stdout
        if source is not None:
            try:
                self._hand_out(source)
            except ValueError:
                self._broken = True
                self.stop()
            source.close()
        with self._lock:
            self._alive = False
            left = list(self._waiting.values())
            self._waiting.clear()
        for box in left:
            box.put(None)

    def _hand_out(self, source: IO[bytes]) -> None:
        """Raises ValueError at the first frame that is none."""
        buffer = bytearray()
        while data := source.read(_CHUNK):
            buffer += data
            while (taken := split(buffer)) is not None:
                answer = read_answer(*taken)
                number = answer[0].get("id", 0)
                if not isinstance(number, int):
                    raise ValueError(type(number))  # noqa: TRY004  (one kind of error for every bad frame)
                box = self._waiting.pop(number, None)
                if box is not None:
                    box.put(answer)
