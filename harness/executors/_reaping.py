"""Kill everything below this process, orphans too. Standard library only: the fork server loads this file."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_KILL_S = 5.0
_DEATH_SIGNAL, _SUBREAPER = 1, 36  # PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of prctl(2)


def become_subreaper() -> bool:
    """Let orphans below this process become its children; False where the system has no such thing."""
    control = _prctl()
    return control is not None and control(_SUBREAPER, 1, 0, 0, 0) == 0


def binder() -> Callable[[], None]:
    """To be called in a fork: from then on it is killed when the thread that forked it ends; may do nothing."""
    control = _prctl()
    return (lambda: None) if control is None else lambda: _bound(control)


def _bound(control: Callable[[int, int, int, int, int], int]) -> None:
    control(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _prctl() -> Callable[[int, int, int, int, int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes  # noqa: PLC0415  (absent from some interpreters; loaded before the first fork)

        found: Callable[[int, int, int, int, int], int] = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    return found


def descendants(root: int) -> list[int]:
    """Process ids below ``root``, parents first; empty where there is no /proc."""
    below: dict[int, list[int]] = {}
    for stat_file in Path("/proc").glob("[0-9]*/stat"):
        try:
            stat = stat_file.read_bytes()
        except OSError:
            continue
        below.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(int(stat_file.parent.name))
    found = list(below.get(root, ()))
    for pid in found:
        found.extend(below.get(pid, ()))
    return found


def reap() -> dict[int, int] | None:
    """Wait statuses of children that have ended, or None where there is no child at all."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended or None
        if pid == 0:
            return ended
        ended[pid] = status


def kill_below(spare: frozenset[int] = frozenset()) -> dict[int, int]:
    """Kill and reap everything below this process but the trees of ``spare``; returns wait statuses."""
    ended: dict[int, int] = {}
    until, pause = time.monotonic() + _KILL_S, 0.0005
    while time.monotonic() < until:
        found = reap()
        if found is None:
            break
        ended.update(found)
        kept = {pid for root in spare for pid in (root, *descendants(root))}
        doomed = [pid for pid in descendants(os.getpid()) if pid not in kept]
        if not doomed:
            break
        for pid in doomed:
            kill(pid)
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
    return ended


def kill(pid: int) -> None:
    """Send SIGKILL; a process that has gone, or belongs to someone else, is left."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
