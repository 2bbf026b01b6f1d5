"""Runs one program and stays only to clean up after it. A script: standard library only.

``python _guard.py LIFE PROGRAM [ARG...]`` becomes the subreaper of everything that PROGRAM starts, from its first
instruction on, before a server of ours runs in it: daemons that left its session too. When PROGRAM ends, or the
descriptor ``LIFE`` does (its other end is held by the owner alone, whatever ends the owner), all of it is killed.
Standard input and output are PROGRAM's alone. Where the guard itself is killed, PROGRAM is killed with it.
"""

from __future__ import annotations

import importlib.util
import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.executors import _reaping
else:
    _spec = importlib.util.spec_from_file_location("_reaping", Path(__file__).with_name("_reaping.py"))
    _reaping = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_reaping)

#: Ignored here and default in the program: a key pressed at the terminal is for the owner to answer.
_OWNERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NOT_STARTED = 127


def main(arguments: list[str]) -> int:
    """Run the program to its end or the owner's, then leave nothing of it; 127 where it could not be started."""
    life, program = int(arguments[0]), arguments[1:]
    reaper = _reaping.become_subreaper()
    bind = _reaping.binder()
    wake, wake_writer = os.pipe()
    for descriptor in (wake, wake_writer):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, _ignore)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    for number in _OWNERS:
        signal.signal(number, signal.SIG_IGN)
    guard = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(program, life, guard, bind)
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1):
        os.dup2(quiet, descriptor)
    _until_over(pid, life, wake)
    _reaping.kill_below()
    if not reaper:  # nothing more is to be found than the program's own group, and the guard is of it
        os.killpg(0, signal.SIGKILL)
    return 0


def _become(program: list[str], life: int, guard: int, bind: Callable[[], None]) -> None:
    try:
        bind()
        if os.getppid() != guard:
            return
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, *_OWNERS):
            signal.signal(number, signal.SIG_DFL)
        os.close(life)
        os.execv(program[0], program)  # noqa: S606  (never a shell)
    finally:
        os._exit(_NOT_STARTED)


def _until_over(pid: int, life: int, wake: int) -> None:
    """Wait for the end of the program, or of the owner."""
    poll = select.poll()
    for descriptor in (life, wake):
        poll.register(descriptor, select.POLLIN)
    while (ended := _reaping.reap()) is not None and pid not in ended:
        if any(descriptor == life for descriptor, _ in poll.poll()):
            return
        try:
            os.read(wake, 4096)
        except BlockingIOError:  # pragma: no cover  (poll said that there is something)
            continue


def _ignore(_signal: int, _frame: FrameType | None) -> None:
    """Only the wake-up descriptor matters."""


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
