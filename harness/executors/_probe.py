"""Tries to get out of its folder. A script: standard library only; whether it succeeds is seen from outside.

``python _probe.py SPEC`` (JSON): ``inside`` a folder it may write in; ``outside`` a folder with the files ``kept`` and
``mode``; ``tcp``, ``udp`` ports of this host; ``unix`` a socket's path; ``process`` the id of one outside. Prints a
JSON list of what it tried, and ``reached`` where the process could be reached.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path


def attempts(spec: dict[str, str | int]) -> dict[str, tuple[Callable[[], object], ...]]:
    """What is tried, by name."""
    inside, outside, here = Path(str(spec["inside"])), Path(str(spec["outside"])), "127.0.0.1"
    return {
        "inside": (lambda: (inside / "made").write_text("made", "utf-8"),),
        "writes": (
            lambda: (outside / "new").write_text("new", "utf-8"),
            (outside / "folder").mkdir,
            lambda: (outside / "kept").write_text("changed", "utf-8"),
            lambda: os.truncate(outside / "kept", 0),
            lambda: (outside / "kept").rename(inside / "taken"),
            lambda: os.link(outside / "kept", inside / "linked"),
            lambda: (inside / "linked").write_text("changed", "utf-8"),
            (outside / "kept").unlink,
        ),
        "attributes": (lambda: (outside / "mode").chmod(0o777), lambda: os.utime(outside / "mode", (1, 1))),
        "tcp": (lambda: _connected(socket.AF_INET, (here, int(spec["tcp"]))),),
        "udp": (lambda: _sent((here, int(spec["udp"]))),),
        "unix": (lambda: _connected(socket.AF_UNIX, str(spec["unix"])),),
        "processes": (lambda: _reach(int(spec["process"])),),
    }


def _connected(family: int, address: str | tuple[str, int]) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as made:
        made.settimeout(2)
        made.connect(address)


def _sent(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendto(b"out", address)


def _reach(process: int) -> None:
    os.kill(process, 0)
    sys.stdout.write("reached\n")


def main(arguments: list[str]) -> int:
    """Try everything, whatever comes of it."""
    tried = attempts(json.loads(arguments[0]))
    for several in tried.values():
        for one in several:
            try:
                one()
            except OSError:
                continue
    sys.stdout.write(json.dumps(sorted(tried)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
