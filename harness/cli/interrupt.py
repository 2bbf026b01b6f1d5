"""Ctrl-C once: finish what is in flight. Twice, SIGTERM, a closed terminal: stop now. Thrice: leave all lying."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from harness.cli.exit_codes import ExitCode

__all__ = ["stoppable"]


@contextlib.contextmanager
def stoppable(
    stop: threading.Event, cancel: Callable[[], None], shut_down: Callable[[], None] | None = None
) -> Iterator[None]:
    """While inside, SIGINT, SIGTERM and SIGHUP set ``stop``; the second one, or any but SIGINT, calls ``cancel`` too.

    Where the process itself is to end (any signal but SIGINT), ``shut_down`` is called in the place of ``cancel``.
    Both must end the episodes in flight soon, so that their workspaces are removed. A further signal ends the
    process at once: the next start removes what it left.
    """
    answers = iter((_announce, cancel))

    def heed(number: int, frame: FrameType | None) -> None:
        del frame
        stop.set()
        answer = next(answers, None)
        if answer is _announce and number != signal.SIGINT:
            answer = next(answers)
        if answer is None:
            os._exit(ExitCode.INTERRUPTED)
        (shut_down or answer if answer is cancel and number != signal.SIGINT else answer)()

    before = {number: signal.signal(number, heed) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _announce() -> None:
    # Not print: a handler may interrupt a buffered write, which cannot be entered twice.
    with contextlib.suppress(OSError):
        os.write(2, b"harness: finishing what is in flight; press Ctrl-C again to stop now\n")
