"""What all processes of a run share, held by the one that began them: its account and its paces, asked by a clerk each.

What is asked, and what comes back, is in values of this module. A question waits ``SLICE_S`` at most, so that whoever
asks can look whether the answer is still wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from harness.clock import SystemClock
from harness.meter import Ceiling, Visitor
from harness.ports import Clock
from harness.schema.run import EpisodeJob, LateRow
from harness.schema.spending import Entry
from harness.suite import answerer
from harness.wiring.pacing import CallEnd, Paces

__all__ = [
    "SLICE_S",
    "Admits",
    "Answer",
    "Before",
    "Clerk",
    "Ended",
    "Enter",
    "Entered",
    "Leave",
    "Question",
    "Reserve",
    "Reserved",
    "Settle",
    "news_to",
]

#: The longest that one question waits, in seconds.
SLICE_S: Final = 0.2


class Admits(NamedTuple):
    """May the episode begin: True or False."""


class Before(NamedTuple):
    """What does the account say of an attempt: an Entry or None."""

    attempt: str


class Reserve(NamedTuple):
    """May an attempt be made that costs and takes so much at most: a Reserved."""

    attempt: str
    most: Decimal | None
    seconds: float


class Reserved(NamedTuple):
    """Whether it may; where not yet, ask again."""

    may: bool
    ask_again: bool = False


class Leave(NamedTuple):
    """A call is out no more, and what the ends of calls mean for the pace. No answer."""

    ends: tuple[CallEnd, ...] = ()


class Settle(NamedTuple):
    """An attempt cost so much, and the call ended before. No answer: who goes on with an episode says it again."""

    attempt: str
    cost: Decimal | None
    left: Leave | None = None


class Enter(NamedTuple):
    """May a call be sent now: an Entered. ``share`` is where in the spread after a closed gate, from 0 to 1.

    Where it may, ``then`` is asked too.
    """

    patience_s: float
    share: float
    then: Reserve | None = None


class Entered(NamedTuple):
    """``stopped``: not yet, ask again. ``begun`` is what the end of the call is told with.

    ``then`` is the answer to what was asked in that case; None where nothing was.
    """

    may: Literal["may_send", "stopped", "closed"]
    begun: int = 0
    then: Reserved | None = None


class Ended(NamedTuple):
    """How a call ended that nobody waited for any more. No answer."""

    provider: str
    end: CallEnd


Question = Admits | Before | Reserve | Enter
Answer = bool | Entry | Reserved | Entered | None


class Clerk:
    """Answers one episode, which is played in another process. Used by one thread."""

    def __init__(self, job: EpisodeJob, *, ceiling: Ceiling, paces: Paces, clock: Clock | None = None) -> None:
        self._ceiling, self._clock = ceiling, clock or SystemClock()
        name = answerer(job.actor.identity)
        self._pace = None if name is None else paces.of(name)
        self._visitor = None if self._pace is None else Visitor(self._pace)
        self._reserved: set[str] = set()

    def answer(self, question: object) -> Answer:
        """The answer to a Question. Raises StoreError where what is asked for must be kept and cannot be."""
        match question:
            case Admits():
                return self._ceiling.is_open()
            case Before(attempt):
                return self._ceiling.before(attempt)
            case Reserve():
                return self._reserve(question)
            case Enter():
                return self._enter(question)
            case _:
                raise TypeError(type(question).__name__)

    def _reserve(self, asked: Reserve) -> Reserved:
        may = self._ceiling.reserve(asked.attempt, asked.most, seconds=asked.seconds, stopped=self._slice())
        if may:
            self._reserved.add(asked.attempt)
        return Reserved(may, ask_again=not may and self._ceiling.reached is None)

    def _enter(self, asked: Enter) -> Entered:
        if self._visitor is None or self._pace is None:
            raise TypeError("a script has no pace")
        may = self._visitor.enter(patience_s=asked.patience_s, stopped=self._slice(), share=asked.share)
        begun = self._pace.begun()
        then = self._reserve(asked.then) if may == "may_send" and asked.then is not None else None
        return Entered(may, begun, then)

    def _slice(self) -> Callable[[], bool]:
        until = self._clock.monotonic() + SLICE_S
        return lambda: self._clock.monotonic() >= until

    def hear(self, news: object) -> None:
        """A Leave or a Settle. Raises StoreError where it cannot be kept."""
        match news:
            case Leave(ends):
                self._leave(ends)
            case Settle(attempt, cost, left):
                if left is not None:
                    self._leave(left.ends)
                self._ceiling.settle(attempt, cost)
                self._reserved.discard(attempt)
            case _:
                raise TypeError(type(news).__name__)

    def _leave(self, ends: Sequence[CallEnd]) -> None:
        if self._visitor is None or self._pace is None:
            return  # a script's: it was of another episode on that thread
        for end in ends:
            end.tell(self._pace)
        self._visitor.leave()

    def close(self) -> None:
        """What the episode held is given back; what it had reserved and did not settle may be spent."""
        if self._visitor is not None:
            self._visitor.leave()
        while self._reserved:
            self._ceiling.leave_behind(self._reserved.pop())


def news_to(paces: Paces, late_row: Callable[[LateRow], None]) -> Callable[[object], None]:
    """Takes what processes tell when no episode waits for it any more: an Ended, or a LateRow. Raises StoreError."""

    def hear(news: object) -> None:
        match news:
            case Ended(provider, end):
                end.tell(paces.of(provider))
            case LateRow():
                late_row(news)
            case _:
                raise TypeError(type(news).__name__)

    return hear
