"""Processes whose parent is killed, and what they leave in a folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from machine import PATIENCE_S

__all__ = ["appears", "began_and_orphaned"]


def appears(folder: Path, pattern: str, count: int = 1) -> list[Path]:
    """The files, once they are there."""
    waited = threading.Event()
    for _ in range(int(PATIENCE_S / 0.02)):
        found = sorted(folder.glob(pattern))
        if len(found) >= count:
            return found
        waited.wait(0.02)
    raise AssertionError(f"{pattern}: {sorted(folder.iterdir())}")


def began_and_orphaned(program: str, folder: Path, tests: Path, count: int) -> set[str]:
    """Ids of the processes that began so many episodes for a program that is killed then.

    ``program`` has places for the ``path`` that it imports from, the folder of ``tests`` first, and for its ``folder``.
    """
    script = folder / "program.py"
    script.write_text(program.format(path=[str(tests), *sys.path], folder=str(folder)), encoding="utf-8")
    with subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE) as parent:
        began = appears(folder, "began-*", count)
        os.kill(parent.pid, signal.SIGKILL)
    return {path.name.rpartition("-")[2] for path in began}
