"""Ctrl-C or SIGTERM once: finish what is in flight. Twice, or a closed terminal: stop now. Thrice: leave all lying."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from harness.cli.exit_codes import ExitCode

__all__ = ["stoppable"]

_FINISHING = b"harness: finishing what is in flight, starting nothing new; press Ctrl-C again to stop now\n"
_STOPPING = b"harness: stopping now; what is not finished is neither passed nor failed\n"


@contextlib.contextmanager
def stoppable(
    stop: threading.Event, cancel: Callable[[], None], shut_down: Callable[[], None] | None = None
) -> Iterator[None]:
    """While inside, SIGINT, SIGTERM and SIGHUP set ``stop``; the second SIGINT, and any other signal at once, ends too.

    Each says at once what happens. The second SIGINT calls ``cancel``. SIGTERM and SIGHUP say that the process itself
    is to end: they call ``shut_down`` (where it is given, else ``cancel``), for whoever sends them soon does worse.
    Both must end the episodes in flight soon, so that their workspaces are removed. A further signal ends the process
    at once: the next start removes what it left.
    """
    answers = iter((_FINISHING, _STOPPING))

    def heed(number: int, frame: FrameType | None) -> None:
        del frame
        stop.set()
        answer = next(answers, None)
        if answer is _FINISHING and number != signal.SIGINT:
            answer = next(answers)
        if answer is None:
            os._exit(ExitCode.INTERRUPTED)
        _say(answer)
        if answer is _STOPPING:
            (cancel if shut_down is None or number == signal.SIGINT else shut_down)()

    before = {number: signal.signal(number, heed) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(line: bytes) -> None:
    # Not print: a handler may interrupt a buffered write, which cannot be entered twice.
    with contextlib.suppress(OSError):
        os.write(2, line)
