"""The present, as the file system under a workspace counts it when it stamps what changes."""

from __future__ import annotations

import os
import stat
import time
from typing import Final

__all__ = ["Ticks"]

#: ``CLOCK_REALTIMECOARSE`` of Linux: the time at the kernel's last tick, which is what local file systems stamp with.
COARSE: Final = 5


class Ticks:
    """Tells times that no later change below ``top`` can be stamped with an earlier one than.

    The directory's own attributes are set to what they are, which stamps it. Where that stamp shows that the file
    system goes by this kernel's clock, the clock is asked from then on; else (a network, another kernel below) the
    directory is stamped each time.
    """

    def __init__(self, top: bytes) -> None:
        self._top = top
        self._is_kernels = False

    def now(self) -> int | None:
        """The present in nanoseconds since 1970; None where this user may not ask."""
        if self._is_kernels:
            return time.clock_gettime_ns(COARSE)
        tick, fine = _ticked(), time.time_ns()
        stamped = _stamp(self._top)
        if stamped is not None and tick is not None:
            # newer kernels stamp finer than the tick what was looked at since its last change, and it was
            self._is_kernels = tick <= stamped <= time.clock_gettime_ns(COARSE) or fine <= stamped <= time.time_ns()
        return stamped


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
