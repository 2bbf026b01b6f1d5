"""The owner's end of a fork server: starts it, sends commands from any thread, hands each its answer."""

from __future__ import annotations

import itertools
import json
import os
import queue
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from harness.errors import ControlPlaneError
from harness.executors._frames import Header, frame, split
from harness.schema.process import Completed, ProcessCommand

__all__ = ["Answer", "Link", "LinkLostError"]

_SCRIPT = Path(__file__).with_name("_forkserver.py")
_CHUNK = 65536
#: Seconds: for a server to be ready, and beyond a command's own bound before the server counts as hung.
_READY_S, _HUNG_S = 30.0, 30.0
_END_S = 10.0
#: Seconds for the reader to see the end of a server that has ended.
_HELD_S = 2.0

#: Header and body; None where the server ended.
Answer = tuple[dict[str, object], bytes]


class LinkLostError(Exception):
    """The server is not there; ``delivered`` says whether the command may have been started."""

    def __init__(self, *, delivered: bool) -> None:
        self.delivered = delivered
        super().__init__("the process server ended")


class Link:
    """One running server. Raises LinkLostError where it does not come up, with ``problem`` as it told it."""

    def __init__(self, interpreter: tuple[str, ...], env: dict[str, str] | None, spec: dict[str, str] | None) -> None:
        arguments = [*interpreter, str(_SCRIPT), *([json.dumps(spec)] if spec else [])]
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._waiting: dict[int, queue.SimpleQueue[Answer | None]] = {}
        self._alive = True
        hello: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._waiting[0] = hello
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
            )
        except OSError as error:
            raise ControlPlaneError(f"cannot start {arguments[0]}: {os.strerror(error.errno or 0)}") from None
        self._reader = threading.Thread(target=self._read, name="harness-link", daemon=True)
        self._reader.start()
        try:
            answer = hello.get(timeout=_READY_S)
        except queue.Empty:
            answer = None
        if answer is None:
            self._kill()
            self.close()
            raise LinkLostError(delivered=False)
        self.hello = answer[0]

    @property
    def alive(self) -> bool:
        """False once the server's end was seen."""
        return self._alive

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def call(self, command: ProcessCommand) -> Answer:
        """Run one command to its end. Raises LinkLostError; ControlPlaneError for what no process can be given."""
        box: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        number = next(self._ids)
        data = frame(_header(number, command))
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
            self._kill()
            raise LinkLostError(delivered=True) from None
        if answer is None or answer[0].get("lost"):
            raise LinkLostError(delivered=True)
        return answer

    def close(self) -> None:
        """Close the server's input, which ends it and all it runs; idempotent."""
        with self._lock:
            stdin = self._process.stdin
            if stdin is not None and not stdin.closed:
                with suppress(BrokenPipeError):
                    stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        # what the server started may hold the pipe: nobody waits for that
        self._reader.join(_HELD_S)

    def _send(self, data: bytes) -> None:
        if self._process.stdin is None or self._process.stdin.closed:
            raise BrokenPipeError
        view = memoryview(data)
        while view:
            view = view[self._process.stdin.write(view) or 0 :]

    def _kill(self) -> None:
        """The server and all of its session that has not left it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _read(self) -> None:
        """Hand out answers until the server's end; then everyone who waits is told."""
        source, buffer = self._process.stdout, bytearray()
        while source is not None and (data := source.read(_CHUNK)):
            buffer += data
            while (taken := split(buffer)) is not None:
                header: dict[str, object] = json.loads(taken[0])
                number = header.get("id", 0)
                box = self._waiting.pop(number if isinstance(number, int) else 0, None)
                if box is not None:
                    box.put((header, taken[1]))
        if source is not None:
            source.close()
        with self._lock:
            self._alive = False
            left = list(self._waiting.values())
            self._waiting.clear()
        for box in left:
            box.put(None)


def completed(answer: Answer) -> Completed:
    """The answer as a value. Raises ControlPlaneError where the program could not be started."""
    header, body = answer
    note = header["note"]
    problem = note.get("problem") if isinstance(note, dict) else None
    if isinstance(problem, list):
        step, reason = problem
        raise ControlPlaneError(f"the command could not {step}: {reason}")
    status, out = _number(header["status"]), _number(header["out"]) or 0
    timed_out = bool(header["timed_out"])
    ended = status if status is not None and not timed_out else None
    signalled = os.WTERMSIG(ended) if ended is not None and os.WIFSIGNALED(ended) else None
    return Completed(
        exit_code=os.WEXITSTATUS(ended) if ended is not None and signalled is None else None,
        signal=signalled,
        timed_out=timed_out,
        stdout=body[:out],
        stderr=body[out:],
        stdout_seen=_number(header["out_seen"]) or 0,
        stderr_seen=_number(header["err_seen"]) or 0,
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _header(number: int, command: ProcessCommand) -> Header:
    """The command for the wire. Raises ControlPlaneError for texts that no process can be given."""
    names = [name for name in command.env if not name or "=" in name]
    if names:
        raise ControlPlaneError("an environment variable of the command has an empty name or '=' in its name")
    return {
        "id": number,
        "argv": [_wire("an argument", text) for text in command.argv],
        "cwd": _wire("the directory", command.cwd),
        "env": {_wire("a name", name): _wire("a value", value) for name, value in command.env.items()},
        "timeout_s": command.timeout_s,
        "output_bytes": command.output_bytes,
    }


def _wire(what: str, text: str) -> str:
    if "\0" in text:
        raise ControlPlaneError(f"{what} of the command holds a NUL character, which no process can be given")
    try:
        return os.fsencode(text).decode("latin-1")
    except UnicodeEncodeError:
        raise ControlPlaneError(f"{what} of the command cannot be encoded as UTF-8") from None
