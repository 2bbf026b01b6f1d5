"""A function run as a confined call runs: below a supervisor of its own, as this user or as an ordinary one."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.executors import _forkserver

__all__ = ["ORDINARY", "Called", "call", "ways"]

#: Nobody's user and group; what is run as an ordinary user when the tests are run by root.
ORDINARY = 65534
_DUMPABLE = 4

# loaded before anybody's skin is changed: an ordinary user may not read them where they are
for _name in ("_landlock", "_seccomp", "_namespaces", "_confine"):
    _forkserver.load_beside(_name)


@dataclass(frozen=True)
class Called:
    """What came of a call: what the function printed, its wait status (None: it was ended), what it could not begin."""

    text: str
    status: int | None
    problem: list[str] = field(default_factory=list)


def call(
    function: Callable[[Path], object], folder: Path, *, user: int | None = None, timeout_s: float = 10.0
) -> Called:
    """``function(folder)`` in a worker that is held to ``folder``; it may print. ``user``: in the skin of that one."""

    def act(answers: int) -> None:
        means = sys.modules["_confine"].prepare()
        header = {"id": 1, "argv": [], "cwd": "/", "env": {}, "timeout_s": timeout_s, "output_bytes": 1_000_000}
        header["folder"] = os.fsencode(folder).decode("latin-1")
        request = sys.modules["_supervise"].Request(json.dumps(header).encode())

        def work(_: object, note: int) -> None:
            del note
            os.chdir(folder)
            function(folder)
            sys.stdout.flush()
            os._exit(0)

        life, _ = os.pipe()
        frame = sys.modules["_supervise"].Supervisor(request, life, means).run(work)
        sys.modules["_frames"].write_all(answers, frame)

    data = bytearray(_in_a_copy(act, user))
    taken = sys.modules["_frames"].split(data)
    if taken is None:
        return Called("", None, ["nothing came back"])
    told = json.loads(taken[0])
    return Called(taken[1].decode("utf-8", "replace"), told["status"], told["note"].get("problem", []))


def ways(user: int | None = None) -> list[str]:
    """By what means calls are confined here, for that user."""
    found = _in_a_copy(lambda answers: sys.modules["_frames"].write_all(answers, json.dumps(_found()).encode()), user)
    names: list[str] = json.loads(found)
    return names


def _found() -> list[str]:
    found: list[str] = sys.modules["_confine"].prepare().ways
    return found


def _in_a_copy(act: Callable[[int], None], user: int | None) -> bytes:
    """What ``act`` writes in a fork of this process, which has one thread."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            os.setsid()
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
                ctypes.CDLL(None).prctl(_DUMPABLE, 1, 0, 0, 0)  # as after exec
            act(writer)
        except BaseException:  # noqa: BLE001  (a fork of the tests must not go on as they)
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writer)
    data = b""
    while block := os.read(reader, 65536):
        data += block
    os.close(reader)
    os.waitpid(pid, 0)
    return data
