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

__all__ = ["MODULES", "ORDINARY", "Called", "call", "offered", "ways"]

#: Nobody's user and group; what is run as an ordinary user when the tests are run by root.
ORDINARY = 65534
#: What a server confines with, in the order in which it loads them.
MODULES = ("_landlock", "_seccomp", "_namespaces", "_view", "_confine")
_DUMPABLE = 4
_OLDEST_LANDLOCK = 3
#: Mount, IPC, process and network namespaces; the user's own; all mounts private.
_SPACES, _NEW_USER, _ALL_PRIVATE = 0x68020000, 0x10000000, 0x44000

# loaded before anybody's skin is changed: an ordinary user may not read them where they are
for _name in MODULES:
    _forkserver.load_beside(_name)


@dataclass(frozen=True)
class Called:
    """What came of a call: what the function printed, its wait status (None: it was ended), what it could not begin."""

    text: str
    status: int | None
    problem: list[str] = field(default_factory=list)


def call(
    function: Callable[[Path], object],
    folder: Path,
    *,
    user: int | None = None,
    means: str = "all",
    alone: bool = False,
    timeout_s: float = 10.0,
) -> Called:
    """``function(folder)`` in a worker that is held to ``folder``; it may print. ``user``: in the skin of that one.

    ``means``: ``all`` that the machine offers, one of them alone (as ``ways`` begins to name it), or ``free``.
    ``alone``: it sees nothing but its folder.
    """

    def act(answers: int) -> None:
        confining = None if means == "free" else _only(means)
        bounds: dict[str, object] = {"timeout_s": timeout_s, "output_bytes": 1_000_000}
        where = {"cwd": "/", "folder": os.fsencode(folder).decode("latin-1"), "alone": alone, "loopback": False}
        header = {"id": 1, "argv": [], "env": {}, **bounds, **where}
        request = sys.modules["_supervise"].Request(json.dumps(header).encode())

        def work(_: object, note: int) -> None:
            del note
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  (the test's own may be closed)
            os.chdir(folder)
            function(folder)
            sys.stdout.flush()
            os._exit(0)

        life, _ = os.pipe()
        frame = sys.modules["_supervise"].Supervisor(request, life, confining).run(work)
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


def offered(user: int | None = None) -> set[str]:
    """What the kernel says that it offers to that user, asked for without anything of ours."""
    found = _in_a_copy(lambda answers: sys.modules["_frames"].write_all(answers, json.dumps(_asked()).encode()), user)
    return set(json.loads(found))


def _asked() -> list[str]:
    libc = ctypes.CDLL(None)
    found = ["landlock"] if libc.syscall(444, None, 0, 1) >= _OLDEST_LANDLOCK else []
    if "\nSeccomp:" in Path("/proc/self/status").read_text("utf-8") and os.uname().machine in {"x86_64", "aarch64"}:
        found.append("seccomp")
    direct = libc.unshare(_SPACES) == 0 or libc.unshare(_SPACES | _NEW_USER) == 0
    if direct and libc.mount(None, b"/", None, _ALL_PRIVATE, None) == 0:
        found.append("namespaces")
    return found


def _only(means: str) -> object:
    """What the machine offers, or one of it alone."""
    if means not in {"all", "namespaces"}:
        sys.modules["_namespaces"].__dict__["enter"] = lambda: ""
    if means not in {"all", "landlock"}:
        sys.modules["_landlock"].__dict__["version"] = lambda: 0
    if means not in {"all", "seccomp"}:
        sys.modules["_seccomp"].__dict__["supported"] = lambda: False
    return sys.modules["_confine"].prepare()


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
