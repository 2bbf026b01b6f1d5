"""One call: a worker, its bounds, and nothing left of it afterwards. Standard library only, see ``_forkserver``."""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.executors import _confine, _frames, _reaping
else:
    import sys

    _frames, _reaping = sys.modules["_frames"], sys.modules["_reaping"]

#: Runs in the worker with descriptors 0-2 in place and the one to write a note to; does not return.
Worker = Callable[["Request", int], None]

_CHUNK = 65536
_NOTE_BYTES = 1_048_576
#: Far from the descriptors that a program counts on getting first, where the limit of open files allows.
_NOTE_FD = 200
#: Open files where the system sets no limit.
_SOME_LIMIT = 65536
#: Longest wait for the system to end a process tree, in seconds.
_TREE_S = 20.0


class Request:
    """One command to run; texts as bytes."""

    def __init__(self, header: bytes) -> None:
        fields = json.loads(header)
        self.id: int = fields["id"]
        self.argv: list[bytes] = [text.encode("latin-1") for text in fields["argv"]]
        self.cwd: bytes = fields["cwd"].encode("latin-1")
        self.env: dict[bytes, bytes] = {
            key.encode("latin-1"): value.encode("latin-1") for key, value in fields["env"].items()
        }
        self.timeout_s: float = fields["timeout_s"]
        self.output_bytes: int = fields["output_bytes"]
        self.folder: bytes = fields["folder"].encode("latin-1")
        self.alone: bool = fields["alone"]
        self.loopback: bool = fields["loopback"]


class _Stream:
    """One output of a worker: kept up to the bound, counted to its end."""

    def __init__(self, bound: int) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.kept, self.seen, self._bound = bytearray(), 0, bound

    def pump(self) -> bool:
        """Read what is there; False at its end."""
        while True:
            try:
                data = os.read(self.reader, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.seen += len(data)
            self.kept += data[: max(0, self._bound - len(self.kept))]
            if len(data) < _CHUNK:
                return True


class Supervisor:
    """Runs one worker to its end or its bound, then leaves nothing of it alive."""

    def __init__(self, request: Request, life: int, means: _confine.Means | None = None) -> None:
        self._request, self._life, self._means = request, life, means
        self._tree = 0
        self._reaper = _reaping.become_subreaper()
        self._out, self._err = _Stream(request.output_bytes), _Stream(request.output_bytes)
        self._note = _Stream(_NOTE_BYTES)
        self._wake, wake_writer = os.pipe()
        for descriptor in (self._wake, wake_writer):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, _ignore)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)

    def run(self, worker: Worker) -> bytes:
        """Start the worker, wait, clean up; returns the answer's frame."""
        if self._means is not None:
            self._tree = self._means.begin(self._request.folder, loopback=self._request.loopback)
        pid = os.fork()
        if pid == 0:
            self._become(worker)
        for stream in (self._out, self._err, self._note):
            os.close(stream.writer)
        status = self._wait(pid)
        timed_out = status is None
        if not self._reaper:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
        self.end_all()
        for stream in (self._out, self._err, self._note):
            stream.pump()
        header: _frames.Header = {
            "id": self._request.id,
            "status": status,
            "timed_out": timed_out,
            "out": len(self._out.kept),
            "err": len(self._err.kept),
            "out_seen": self._out.seen,
            "err_seen": self._err.seen,
            "note": json.loads(self._note.kept or b"{}"),
        }
        return _frames.frame(header, bytes(self._out.kept + self._err.kept))

    def _wait(self, pid: int) -> int | None:
        """The worker's wait status, or None where the time or the server ended first."""
        deadline = time.monotonic() + self._request.timeout_s
        streams = {stream.reader: stream for stream in (self._out, self._err, self._note)}
        poll = select.poll()
        for descriptor in (*streams, self._wake, self._life):
            poll.register(descriptor, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            for descriptor, _ in poll.poll(left * 1000 + 1):
                if descriptor == self._life:
                    return None
                if descriptor == self._wake:
                    os.read(self._wake, _CHUNK)
                    status = (_reaping.reap() or {}).get(pid)
                    if status is not None:
                        return status
                elif not streams[descriptor].pump():
                    poll.unregister(descriptor)
        return None

    def end_all(self) -> None:
        """Leave nothing of the call alive; of a process tree of its own the system ends all, which is waited for."""
        if not self._tree:
            _reaping.kill_below()
            return
        _reaping.kill(self._tree)
        until = time.monotonic() + _TREE_S
        while (ended := _reaping.reap()) is not None and self._tree not in ended:
            left = until - time.monotonic()
            if left <= 0:
                return
            select.select((self._wake,), (), (), left)
            with suppress(BlockingIOError):
                os.read(self._wake, _CHUNK)

    def _confine(self) -> None:
        """Be held to the call's folder for good. Raises OSError, also where that cannot be held and must be."""
        if self._means is not None:
            asked = self._request
            self._means.enter(asked.folder, asked.timeout_s, alone=asked.alone, loopback=asked.loopback)
        elif self._request.alone:
            raise OSError(errno.ENOTSUP, "alone")

    def _become(self, worker: Worker) -> None:
        """Become the worker: own session, default signals, nothing open but 0-2 and the note, confined."""
        note, step = self._note.writer, "be prepared"
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            os.dup2(self._out.writer, 1)
            os.dup2(self._err.writer, 2)
            limit = os.sysconf("SC_OPEN_MAX")
            limit = limit if limit > 0 else _SOME_LIMIT
            place = min(_NOTE_FD, limit - 1)
            if place != note:
                os.dup2(note, place, inheritable=False)
            note = place
            os.closerange(3, place)
            os.closerange(place + 1, limit)
            step = "be confined"
            self._confine()
            worker(self._request, note)
        except OSError as error:
            tell_problem(note, step, error)
        finally:
            os._exit(70)


def _ignore(_signal: int, _frame: FrameType | None) -> None:
    """Only the wake-up descriptor matters."""


def tell_problem(note: int, step: str, error: OSError) -> None:
    """Say in the note what could not be done, and the system's number for why."""
    _frames.write_all(note, json.dumps({"problem": [step, str(error.errno or 0)]}).encode("ascii"))


def execute(request: Request, note: int) -> None:
    """The worker that becomes a program; a failure to start is told in the note."""
    step = "enter the directory"
    try:
        os.chdir(request.cwd)
        step = "start"
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(request.argv[0], request.argv, request.env)  # noqa: S606  (never a shell)
    except OSError as error:
        tell_problem(note, step, error)
        os._exit(127)
