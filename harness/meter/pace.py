"""How fast one provider is asked, by everybody in this process: a window of calls, and a gate after a refusal.

Who is refused with a time to wait closes the gate for all: nobody sends before that is over, and then they come one
after another and not all together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from harness.meter.window import Window

__all__ = ["Entered", "Pace", "Visitor"]

#: How often a waiting call looks whether it is still wanted, in seconds.
NOTICE_S: Final = 0.05
#: Those who waited for the gate come within this share of the time that it was closed, and within so many seconds.
SPREAD_SHARE: Final = 0.25
SPREAD_MAX_S: Final = 2.0

#: A call may be made; nobody wants it any more; the gate is closed for longer than it can wait.
Entered = Literal["may_send", "stopped", "closed"]


@dataclass(slots=True)
class _Gate:
    """Until when nobody sends, on the monotonic clock, and over how many seconds those who wait are spread then."""

    opens: float = 0.0
    spread_s: float = 0.0


class Pace:
    """Safe to use from any thread.

    ``ceiling`` is how many calls are out at once while nothing is refused (1 or more). ``monotonic`` gives seconds;
    ``jitter`` a number from 0 to 1 that differs from call to call.
    """

    def __init__(self, ceiling: int, monotonic: Callable[[], float], jitter: Callable[[], float]) -> None:
        self._window, self._gate = Window.whole(ceiling), _Gate()
        self._monotonic, self._jitter = monotonic, jitter
        self._changed = threading.Condition()
        self._out = 0
        self._refused = 0
        self._least = ceiling
        self._word: str | None = None

    @property
    def ceiling(self) -> int:
        """How many calls are out at once at most."""
        return self._window.ceiling

    @property
    def at_once(self) -> int:
        """How many may be out now, from 1."""
        return self._window.at_once

    @property
    def least(self) -> int:
        """The fewest that might be out at once so far."""
        return self._least

    @property
    def refused(self) -> int:
        """How many calls were refused so far."""
        return self._refused

    @property
    def word(self) -> str | None:
        """What the last refusal was; None where none was."""
        return self._word

    @property
    def closed_s(self) -> float:
        """For how many seconds nobody sends, from now; 0 where somebody may."""
        return max(0.0, self._gate.opens - self._monotonic())

    def begun(self) -> int:
        """What a call that begins now says to ``refuse``, so that one wave of refusals counts once."""
        return self._window.refusals

    def refuse(self, begun: int, word: str, retry_after_s: float | None) -> None:
        """A call was refused for a limit, in that word; ``retry_after_s`` is how long the provider wants to be left."""
        with self._changed:
            self._refused, self._word = self._refused + 1, word
            self._is_now(self._window.refused(begun, max(1, self._out)))
            opens = self._monotonic() + (retry_after_s or 0.0)
            if opens > self._gate.opens and retry_after_s:
                self._gate = _Gate(opens, min(SPREAD_MAX_S, retry_after_s * SPREAD_SHARE))

    def answer(self, left: int | None = None) -> None:
        """A call was answered; ``left`` is how many more the provider says that it takes for now, None: not told."""
        with self._changed:
            self._is_now(self._window.answered() if left is None else self._window.answered().told(left))

    def _is_now(self, window: Window) -> None:
        self._window = window
        self._least = min(self._least, window.at_once)
        self._changed.notify_all()

    def enter(self, *, patience_s: float, stopped: Callable[[], bool], share: float | None = None) -> Entered:
        """Wait until one more call may be out; it is, then, until ``leave``.

        ``closed``: the gate stays closed for longer than ``patience_s``. Who waits for others waits until ``stopped``;
        ``share`` is its part of the time over which they are spread, 0 to 1, where it waits in several goes.
        """
        gate, due = None, 0.0
        with self._changed:
            while not stopped():
                if gate is not self._gate:
                    gate = self._gate
                    due = gate.opens + (self._jitter() if share is None else share) * gate.spread_s
                now = self._monotonic()
                if gate.opens - now > patience_s:
                    return "closed"
                if now >= due and self._out < self._window.at_once:
                    self._out += 1
                    return "may_send"
                self._changed.wait(min(NOTICE_S, due - now) if due > now else NOTICE_S)
            return "stopped"

    def leave(self) -> None:
        """A call that entered is out no more."""
        with self._changed:
            self._out -= 1
            self._changed.notify_all()


class Visitor:
    """One episode at a pace: at most one call of it is out. Used by one thread at a time."""

    def __init__(self, pace: Pace) -> None:
        self._pace, self._is_in = pace, False

    def enter(self, *, patience_s: float, stopped: Callable[[], bool], share: float | None = None) -> Entered:
        """As ``Pace.enter``; who is in already may send."""
        if self._is_in:
            return "may_send"
        entered = self._pace.enter(patience_s=patience_s, stopped=stopped, share=share)
        self._is_in = entered == "may_send"
        return entered

    def leave(self) -> None:
        """It is out no more; idempotent."""
        if self._is_in:
            self._is_in = False
            self._pace.leave()
