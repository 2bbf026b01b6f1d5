"""Run a Python module at a given time of day. A script: standard library only.

``python _timeshift.py ISO MODULE [ARG...]`` behaves as ``python -m MODULE [ARG...]`` whose wall clock stands still at
``ISO``. Monotonic clocks and the time that child processes see stay as they are. The fork server applies the same
patch before it imports its module.
"""

from __future__ import annotations

import datetime as dt
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Self


class _AlsoPlain(type):
    """Values made by C code are of the original class; they are ours too."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])


class _StillDatetime(dt.datetime, metaclass=_AlsoPlain):
    """``datetime.datetime`` whose now stands still."""

    seconds: ClassVar[float] = 0.0

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Self:
        return cls.fromtimestamp(cls.seconds, tz)

    @classmethod
    def today(cls) -> Self:
        return cls.fromtimestamp(cls.seconds)

    @classmethod
    def utcnow(cls) -> Self:
        return cls.fromtimestamp(cls.seconds, dt.UTC).replace(tzinfo=None)

    def __repr__(self) -> str:
        return f"datetime.{super().__repr__()}"


class _StillDate(dt.date, metaclass=_AlsoPlain):
    """``datetime.date`` whose today stands still."""

    seconds: ClassVar[float] = 0.0

    @classmethod
    def today(cls) -> Self:
        return cls.fromtimestamp(cls.seconds)

    def __repr__(self) -> str:
        return f"datetime.{super().__repr__()}"


def freeze(instant: str) -> None:
    """Make every wall clock of this interpreter show ``instant`` (ISO 8601 with zone). Call it before other imports."""
    seconds = dt.datetime.fromisoformat(instant).timestamp()
    nanoseconds = int(seconds * 1_000_000) * 1000
    _freeze_time(seconds, nanoseconds)
    _freeze_datetime(seconds)


def _freeze_time(seconds: float, nanoseconds: int) -> None:
    localtime, gmtime, strftime = time.localtime, time.gmtime, time.strftime
    ctime, asctime = time.ctime, time.asctime
    gettime, gettime_ns = time.clock_gettime, time.clock_gettime_ns
    clock = time.CLOCK_REALTIME
    replaced = {
        "time": lambda: seconds,
        "time_ns": lambda: nanoseconds,
        "localtime": lambda value=None: localtime(seconds if value is None else value),
        "gmtime": lambda value=None: gmtime(seconds if value is None else value),
        "ctime": lambda value=None: ctime(seconds if value is None else value),
        "asctime": lambda value=None: asctime(localtime(seconds) if value is None else value),
        "strftime": lambda form, value=None: strftime(form, localtime(seconds) if value is None else value),
        "clock_gettime": lambda which: seconds if which == clock else gettime(which),
        "clock_gettime_ns": lambda which: nanoseconds if which == clock else gettime_ns(which),
    }
    for name, function in replaced.items():
        setattr(time, name, function)


def _freeze_datetime(seconds: float) -> None:
    for ours, name in ((_StillDatetime, "datetime"), (_StillDate, "date")):
        ours.seconds = seconds
        ours.__name__ = ours.__qualname__ = name
        ours.__module__ = dt.__name__
        setattr(dt, name, ours)


def main(arguments: list[str]) -> None:
    """Set the clock, then be the module."""
    instant, module, *rest = arguments
    freeze(instant)
    if not sys.flags.safe_path:
        sys.path[0] = str(Path.cwd())
    sys.argv = [module, *rest]
    run_as_main: Callable[[str], object] = vars(runpy)["_run_module_as_main"]
    run_as_main(module)


if __name__ == "__main__":
    main(sys.argv[1:])
