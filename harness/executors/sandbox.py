"""Whether what an executor runs is confined: what tries to get out is run, and who was reached is looked at."""

from __future__ import annotations

import json
import os
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

from harness.ports import Executor
from harness.schema.confinement import Hold
from harness.schema.process import ProcessCommand

__all__ = ["measure"]

_PROBE = Path(__file__).with_name("_probe.py")
_TIMEOUT_S = 30.0
_TRIED = ["attributes", "inside", "processes", "tcp", "udp", "unix", "writes"]
_KEPT, _MODE = "kept", 0o600


def measure(executor: Executor, inside: Path, outside: Path) -> tuple[Hold, ...]:
    """What a command that may write in ``inside`` could not do; both are empty folders of this user.

    Nothing where the command could not do its work, or could not even write in ``inside``. Raises ControlPlaneError or
    MachineError where it could not be started, OSError for a folder that is not there.
    """
    kept, mode = outside / "kept", outside / "mode"
    for file in (kept, mode):
        file.write_text(_KEPT, "utf-8")
        file.chmod(_MODE)
    before = mode.stat()
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        unix = stack.enter_context(_unix_listener(outside))
        spec = {
            "inside": str(inside),
            "outside": str(outside),
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "unix": "socket",
            "process": os.getpid(),
        }
        done = executor.run(
            ProcessCommand(
                argv=(sys.executable, "-I", "-S", str(_PROBE), json.dumps(spec)),
                cwd=str(outside),
                env={},
                timeout_s=_TIMEOUT_S,
                folder=str(inside),
            )
        )
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        if done.exit_code != 0 or not lines or lines[-1] != json.dumps(_TRIED) or not (inside / "made").is_file():
            return ()
        after = mode.stat()
        escaped: dict[Hold, bool] = {
            "writes": {path.name for path in outside.iterdir()} != {"kept", "mode", "socket"} or not _is_whole(kept),
            "attributes": (before.st_mode, before.st_mtime_ns) != (after.st_mode, after.st_mtime_ns),
            "tcp": _was_reached(tcp),
            "udp": _was_reached(udp),
            "unix": _was_reached(unix),
            "processes": "reached" in lines,
        }
    return tuple(hold for hold, got_out in escaped.items() if not got_out)


def _unix_listener(folder: Path) -> socket.socket:
    """A listener at ``socket`` in a folder whose path may be longer than such an address can be."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        made.bind(f"/proc/self/fd/{place}/socket")
        made.listen()
    except OSError:
        made.close()
        raise
    finally:
        os.close(place)
    return made


def _is_whole(file: Path) -> bool:
    return file.read_text("utf-8") == _KEPT


def _was_reached(listener: socket.socket) -> bool:
    """Whether somebody connected, or something came."""
    listener.setblocking(False)
    with suppress(BlockingIOError):
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(1)
        else:
            listener.accept()[0].close()
        return True
    return False
