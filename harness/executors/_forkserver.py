"""A small server that runs commands, each below a supervisor of its own. A script: standard library only.

``python _forkserver.py HOW`` starts programs; ``python _forkserver.py HOW SPEC`` (JSON, see ``_preload.prepare``)
imports a Python module once and forks a prepared copy for each call. ``HOW`` is ``confined`` or ``free``: what is run
by a confined server is held to its request's folder by all that the machine offers, see ``_confine``. Requests come on
standard input, answers go to standard output. The processes of one call are::

    owner ── server ── supervisor (subreaper) ── worker ── whatever it starts

A supervisor inherits every orphan of its call, also after ``setsid``, so that it can kill exactly what belongs to that
call while others run. When the owner ends, by SIGKILL too, the server reads the end of its input; when the server
ends, supervisors read the end of the ``life`` pipe; each then kills what is below it.

A frame is two big-endian 32-bit lengths, a JSON header and a body. Request header: ``id``, ``argv``, ``cwd``, ``env``
(texts are bytes read as Latin-1), ``timeout_s``, ``output_bytes``, ``folder`` (where it may write), ``alone`` (it sees
nothing else). Answer header: ``id``, ``status`` (wait status, or null after a time-out), ``timed_out``, ``out``,
``err`` (lengths in the body), ``out_seen``, ``err_seen``, ``note`` (what the worker told: ``problem`` or ``learned``),
or ``lost`` where the supervisor itself was killed, or ``problem`` alone where the machine lacked what a supervisor
needs. A ``problem`` is the step and the system's number.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

#: Takes what a worker learned; returns what the owner should know about it.
Learner = Callable[[list[str]], dict[str, list[str]]]

_CHUNK = 65536
_STOP_S = 5.0


def load_beside(name: str) -> ModuleType:
    """The module in the file of that name beside this one; this script is not run as part of a package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(name + ".py"))
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from harness.executors import _confine, _frames, _reaping, _supervise
else:
    _frames, _reaping, _supervise = (load_beside(name) for name in ("_frames", "_reaping", "_supervise"))


class Server:
    """Takes requests, forks supervisors, passes on their answers; one thread, so that forking is safe."""

    def __init__(
        self,
        requests: int,
        answers: int,
        worker: _supervise.Worker,
        learn: Learner | None,
        means: _confine.Means | None = None,
    ) -> None:
        self._requests, self._answers, self._worker, self._learn = requests, answers, worker, learn
        self._means = means
        self._life, self._alive = os.pipe()
        self._poll = select.poll()
        self._poll.register(requests, select.POLLIN)
        self._inbox = bytearray()
        #: by descriptor: request id, supervisor's process id, what it has answered so far
        self._running: dict[int, tuple[int, int, bytearray]] = {}
        os.set_blocking(requests, False)

    def serve(self) -> None:
        """Until the owner closes its end."""
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor != self._requests:
                    self._collect(descriptor)
                elif not self._accept():
                    return

    def stop(self) -> None:
        """Kill every call that is still running."""
        os.close(self._alive)
        until = time.monotonic() + _STOP_S
        while _reaping.reap() is not None and time.monotonic() < until:
            time.sleep(0.002)
        _reaping.kill_below()

    def _accept(self) -> bool:
        data = os.read(self._requests, _CHUNK)
        self._inbox += data
        while (taken := _frames.split(self._inbox)) is not None:
            self._fork(_supervise.Request(taken[0]))
        return bool(data)

    def _fork(self, request: _supervise.Request) -> None:
        ends: tuple[int, ...] = ()
        try:
            ends = reader, writer = os.pipe()
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            pid = os.fork()
        except OSError as error:
            for descriptor in ends:
                os.close(descriptor)
            _frames.write_all(self._answers, _unable(request, error))
            return
        if pid == 0:
            self._become_supervisor(request, reader, writer)
        os.close(writer)
        self._running[reader] = (request.id, pid, bytearray())
        self._poll.register(reader, select.POLLIN)

    def _become_supervisor(self, request: _supervise.Request, reader: int, writer: int) -> None:
        """What the fork does; does not return."""
        try:
            for descriptor in (self._alive, self._requests, self._answers, reader, *self._running):
                os.close(descriptor)
            supervisor: _supervise.Supervisor | None = None
            try:
                supervisor = _supervise.Supervisor(request, self._life, self._means)
                answer = supervisor.run(self._worker)
            except OSError as error:
                if supervisor is not None:
                    supervisor.end_all()
                answer = _unable(request, error)
            _frames.write_all(writer, answer)
        finally:
            os._exit(0)

    def _collect(self, descriptor: int) -> None:
        number, pid, buffer = self._running[descriptor]
        data = os.read(descriptor, _CHUNK)
        buffer += data
        if data:
            return
        self._poll.unregister(descriptor)
        os.close(descriptor)
        del self._running[descriptor]
        answer = bytes(buffer)
        taken = _frames.split(buffer)
        if taken is None:
            _reaping.kill(pid)
            _reaping.kill_below(frozenset(other for _, other, _ in self._running.values()))
            answer = _frames.frame({"id": number, "lost": True})
        else:
            note = json.loads(taken[0]).get("note", {})
            if self._learn is not None and note.get("learned"):
                answer = _frames.frame({**json.loads(taken[0]), "note": self._learn(note["learned"])}, taken[1])
        _reaping.reap()
        _frames.write_all(self._answers, answer)


def _unable(request: _supervise.Request, error: OSError) -> bytes:
    """The answer where the machine lacked what it takes to run anything."""
    return _frames.frame({"id": request.id, "problem": ["be run", str(error.errno or 0)]})


def take_streams() -> tuple[int, int]:
    """Move the two ends of the conversation away from 0 and 1, so that nothing printed can reach it."""
    requests, answers = os.dup(0), os.dup(1)
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(quiet, descriptor)
    os.close(quiet)
    return requests, answers


def confined() -> _confine.Means | None:
    """What the machine offers to confine calls with, or None; this process leaves the network where it can."""
    try:
        for name in ("_landlock", "_seccomp", "_namespaces", "_view"):
            load_beside(name)
        means: _confine.Means = load_beside("_confine").prepare()
    except (ImportError, AttributeError):  # no ctypes, or a C library without what Linux has
        return None
    return means if means.ways else None


def main(arguments: list[str]) -> int:
    """Say hello, serve until the owner is gone, leave nothing behind."""
    how, *specs = arguments
    requests, answers = take_streams()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _reaping.become_subreaper()
    means = confined() if how == "confined" else None
    hello: _frames.Header = {"ready": True, "pid": os.getpid(), "ways": [] if means is None else means.ways}
    worker, learn = _supervise.execute, None
    if specs:
        prepared = load_beside("_preload").prepare(json.loads(specs[0]), str(Path(__file__).parent))
        worker, learn, hello = prepared.work, prepared.learn, {**hello, **prepared.hello}
    _frames.write_all(answers, _frames.frame(hello))
    server = Server(requests, answers, worker, learn, means)
    try:
        server.serve()
    finally:
        server.stop()
    return 0


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
