"""What all episodes of a run may cost and take together: reserved before each attempt, settled after it.

The most that an attempt can cost is set aside before it is made, so the sum of what was spent and what may still be
asked for never exceeds the bound, however many episodes run side by side. Where too little is left for an attempt it
waits while others are out, for they seldom cost the most that they could.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

from harness.schema.spending import Entry

__all__ = ["Bound", "Ceiling", "Refused"]

#: How often a waiting attempt looks whether it is still wanted, in seconds.
NOTICE_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Bound:
    """``cost`` in millionths of a US dollar, ``ends`` on the monotonic clock in seconds; None is no bound."""

    cost: Decimal | None = None
    ends: float | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """An attempt that there was no room for: its ``most`` in millionths of a US dollar, and its most ``seconds``."""

    most: Decimal | None
    seconds: float


@dataclass(slots=True)
class _Book:
    """What was spent, and what may be by attempts that are out. An attempt that may not be known cost its most."""

    spent: Decimal = Decimal(0)
    out: dict[str, Decimal | None] = field(default_factory=dict)
    left_behind: dict[str, Decimal | None] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    unbounded: int = 0

    @property
    def gone(self) -> Decimal:
        """What nobody gives back."""
        return self.spent + _sum(self.left_behind)

    @property
    def committed(self) -> Decimal:
        return self.gone + _sum(self.out)


def _sum(reserved: dict[str, Decimal | None]) -> Decimal:
    return sum((most for most in reserved.values() if most is not None), Decimal(0))


class Ceiling:
    """Safe to use from any thread.

    ``before`` are the entries of an interrupted run that is gone on with: what it reserved and did not settle counts in
    full until somebody settles it. ``keep`` puts an entry on disk before it counts; what it raises goes to the caller.
    """

    def __init__(
        self,
        bound: Bound,
        monotonic: Callable[[], float],
        *,
        keep: Callable[[Entry], None] = lambda _: None,
        before: Sequence[Entry] = (),
    ) -> None:
        self._bound, self._monotonic, self._keep = bound, monotonic, keep
        self._changed = threading.Condition()
        self._reached: Literal["cost", "time"] | None = None
        self._refused: Refused | None = None
        self._book = _Book()
        self._told = {entry.attempt: entry for entry in before}
        for entry in before:
            self._enter(entry, self._book.left_behind)

    @property
    def reached(self) -> Literal["cost", "time"] | None:
        """The bound that somebody was refused for; from then on everybody is."""
        return self._reached

    @property
    def refused(self) -> Refused | None:
        """The first attempt that was refused for a bound; None where none was."""
        return self._refused

    @property
    def committed(self) -> Decimal:
        """What was spent and what is reserved, in millionths of a US dollar; what cannot be known is not in it."""
        with self._changed:
            return self._book.committed

    @property
    def unbounded(self) -> int:
        """Attempts of which nobody knows what they cost at most."""
        with self._changed:
            return self._book.unbounded + sum(most is None for most in self._book.left_behind.values())

    def before(self, attempt: str) -> Entry | None:
        """The last that an interrupted run said of an attempt; None where it said nothing."""
        return self._told.get(attempt)

    def is_open(self) -> bool:
        """Whether an episode may begin."""
        with self._changed:
            self._look_at_the_clock(0.0)
            spent = self._bound.cost is not None and self._book.gone >= self._bound.cost
            if spent and self._reached is None:
                self._reached = "cost"
            return self._reached is None

    def reserve(self, attempt: str, most: Decimal | None, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        """Set aside what an attempt can cost and take at most; whether it may be made.

        Waits while others are out that may leave enough, or until ``stopped`` says yes. ``most`` None is not bounded:
        never within a bound.
        """
        with self._changed:
            self._book.left_behind.pop(attempt, None)  # it was reserved and never made: its driver was killed between
            while self._reached is None and not stopped():
                self._look_at_the_clock(seconds)
                if self._reached is None and self._fits(most):
                    self._write(Entry(attempt=attempt, event="reserved", micro_usd=most), self._book.out)
                    return True
                if not self._book.out or self._never_fits(most):
                    self._reached = self._reached or "cost"
                if self._reached is None:
                    self._changed.wait(NOTICE_S)
            if self._reached is not None and self._refused is None:
                self._refused = Refused(most, seconds)
            self._changed.notify_all()
            return False

    def settle(self, attempt: str, cost: Decimal | None) -> None:
        """What an attempt really cost; None: nobody knows, so the most it could stays counted. Again: nothing."""
        with self._changed:
            if attempt not in self._book.settled:
                self._write(Entry(attempt=attempt, event="settled", micro_usd=cost), self._book.out)
                self._changed.notify_all()

    def leave_behind(self, attempt: str) -> None:
        """Whoever made a reserved attempt is no more: nobody waits for it, and the most it could cost stays counted.

        One that is settled stays as it is.
        """
        with self._changed:
            if attempt in self._book.out:
                self._book.left_behind[attempt] = self._book.out.pop(attempt)
                self._changed.notify_all()

    def _look_at_the_clock(self, seconds: float) -> None:
        ends = self._bound.ends
        if ends is not None and self._reached is None and self._monotonic() + seconds > ends:
            self._reached = "time"

    def _fits(self, most: Decimal | None) -> bool:
        bound = self._bound.cost
        return bound is None or (most is not None and self._book.committed + most <= bound)

    def _never_fits(self, most: Decimal | None) -> bool:
        bound = self._bound.cost
        return bound is not None and (most is None or self._book.gone + most > bound)

    def _write(self, entry: Entry, reserved: dict[str, Decimal | None]) -> None:
        self._keep(entry)
        self._enter(entry, reserved)

    def _enter(self, entry: Entry, reserved: dict[str, Decimal | None]) -> None:
        book = self._book
        if entry.event == "reserved":
            reserved[entry.attempt] = entry.micro_usd
            book.settled.discard(entry.attempt)  # it was not made before, or is made again: what it costs is more
            return
        most = book.out.pop(entry.attempt, None) or book.left_behind.pop(entry.attempt, None)
        cost = most if entry.micro_usd is None else entry.micro_usd
        book.settled.add(entry.attempt)
        book.spent += cost or Decimal(0)
        book.unbounded += cost is None
