"""The present, as the file system under a workspace counts it when it stamps what changes."""

from __future__ import annotations

import os
import stat
import time
from typing import Final

__all__ = ["Ticks"]

#: ``CLOCK_REALTIMECOARSE`` of Linux: the time at the kernel's last tick, which is what local file systems stamp with.
COARSE: Final = 5
#: The kernel's shortest tick, in nanoseconds: 1000 a second.
SHORTEST_NS: Final = 1_000_000


class Ticks:
    """Tells times before which nothing changed unseen in the directory ``top`` and below.

    What has a change time before one of them, and was looked at since, gets another change time by any later change.

    Since Linux 6.13 most local file systems stamp with the time itself what was looked at since its last change
    ("multigrain timestamps"), and with the kernel's last tick what was not: the time itself is told of these. Which of
    them ``top`` lies on is tried out by setting its attributes to what they are, twice. On others all changes within a
    tick are stamped alike, so the last tick is told where a stamp shows that they go by this kernel's clock; else (a
    network, another kernel below) ``top`` is stamped each time that it is asked.
    """

    def __init__(self, top: bytes) -> None:
        self._top = top
        self._clock = time.CLOCK_REALTIME if _is_multigrain(top) else None

    def now(self) -> int | None:
        """The present in nanoseconds since 1970; None where this user may not ask."""
        if self._clock is not None:
            return time.clock_gettime_ns(self._clock)
        tick, fine = _ticked(), time.time_ns()
        stamped = _stamp(self._top)
        # newer kernels stamp finer than the tick what was looked at since its last change, and it was
        if (
            stamped is not None
            and tick is not None
            and (tick <= stamped <= time.clock_gettime_ns(COARSE) or fine <= stamped <= time.time_ns())
        ):
            self._clock = COARSE
        return stamped


def _is_multigrain(top: bytes) -> bool:
    """Whether a change is stamped with the time itself where another one in the same tick was looked at.

    A stamp that may be a tick, or that of a clock which counts in milliseconds or more, is none: then nothing is shown.
    """
    if _stamp(top) is None:
        return False
    began = time.time_ns()
    stamped, tick, ended = _stamp(top), _ticked(), time.time_ns()
    # within less than a tick there is one at most, which is the last one then
    if stamped is None or tick is None or not began <= stamped <= ended < began + SHORTEST_NS:
        return False
    return stamped != tick and stamped % SHORTEST_NS != 0


def _ticked() -> int | None:
    """The time of the last tick; None where the system does not tell it."""
    try:
        return time.clock_gettime_ns(COARSE)
    except OSError:
        return None


def _stamp(top: bytes) -> int | None:
    try:
        os.chmod(top, stat.S_IMODE(os.lstat(top).st_mode))  # noqa: PTH101  (bytes)
        return os.lstat(top).st_ctime_ns
    except OSError:
        return None
