"""What the pools of processes have alike: signals while a process begins, and how an episode's end travels."""

from __future__ import annotations

import pickle
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple, TypeAlias

from harness.errors import InputError, UsageError, WorkerCrashError
from harness.receipt import line
from harness.schema.run import EpisodeResult

__all__ = ["OF_A_TERMINAL", "WAITING", "Line", "Told", "hear", "held_back", "played", "receive", "send"]

#: A connection that carries pickles of values.
Line: TypeAlias = "Connection[bytes, bytes]"

#: What a terminal sends to all processes: the one that began the others answers it for them.
OF_A_TERMINAL = frozenset({signal.SIGINT, signal.SIGHUP})
#: What waits until a process has begun: one that ended before would leave its parent with what nobody reads.
WAITING = OF_A_TERMINAL | {signal.SIGTERM}


class Told(NamedTuple):
    """How an episode ended, as it comes from its process: exceptions do not travel well.

    ``line`` is that of the receipt of the ``result``: it is written there, and not made a second time here.
    """

    result: EpisodeResult | None = None
    line: str = ""
    refusal: str | None = None
    crash: tuple[str, tuple[str, ...]] | None = None

    def taken(self) -> EpisodeResult | None:
        """The result. Raises UsageError for what the episode's InputError said, WorkerCrashError for a bug."""
        if self.refusal is not None:
            raise UsageError(self.refusal)
        if self.crash is not None:
            raise WorkerCrashError(*self.crash)
        if self.result is not None:
            line.know(self.result.receipt, self.line)
        return self.result


def played(play: Callable[[], EpisodeResult]) -> Told:
    """How that ends."""
    try:
        result = play()
        return Told(result, line(result.receipt))
    except InputError as error:
        return Told(refusal=str(error))
    except Exception as error:  # noqa: BLE001  (told to the one that began this process as a crash)
        found = traceback.extract_tb(error.__traceback__)
        frames = tuple(f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in found)
        return Told(crash=(type(error).__name__, frames))


def send(line: Line, value: object) -> None:
    """Send a value that holds no connection: the library's own way would look for one in it. Raises OSError."""
    line.send_bytes(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))


def receive(line: Line) -> object:
    """The next value. Raises EOFError, and OSError."""
    found: object = pickle.loads(line.recv_bytes())  # noqa: S301  (of our own processes)
    return found


@contextmanager
def held_back() -> Iterator[None]:
    """Processes that begin inside are born without an ear for these signals, until they ``hear``.

    This thread hears them afterwards; all others do meanwhile.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, WAITING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hear(ignored: frozenset[signal.Signals] = OF_A_TERMINAL) -> None:
    """First thing in a process: what is sent to it counts from now on, but for what is ``ignored``."""
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, WAITING)
