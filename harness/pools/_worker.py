"""What a process with several threads does: each of them plays what its lane says, until that ends."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Final, Literal, NamedTuple, Protocol

from harness.collecting import rare_collections
from harness.errors import EnvironmentProblem
from harness.pools._ending import OF_A_TERMINAL, Line, hear, played, receive, send
from harness.schema.run import EpisodeJob, EpisodeResult

__all__ = ["Ask", "Desk", "OpenPlayer", "Order", "Player", "Tell", "Word", "work"]

#: How long the end of a process waits for what it plays to end, in seconds.
_END_S: Final = 30.0

#: How long a thread computes before another one takes the interpreter from it, in seconds. They wait for calls most of
#: the time and give it away by themselves; with the usual 0.005 all who wait for it wake up so often for nothing.
_SWITCH_S: Final = 0.05

#: What a process is told: as a Player has it.
Word = Literal["cancel", "shut_down"]


class Player(Protocol):
    """Plays episodes, on several threads at once."""

    def run(self, job: EpisodeJob) -> EpisodeResult:
        """One episode. Raises InputError."""

    def cancel(self) -> None:
        """End what runs; may be called from any thread."""

    def shut_down(self) -> None:
        """The same, for the process is to end."""


#: Opens the player of a process; goes there as a pickle, so it is a function of a module, or a partial of one.
OpenPlayer = Callable[["Desk"], AbstractContextManager[Player]]


class Order(NamedTuple):
    """Play the job at this place, as this attempt."""

    place: int
    attempt: int


class Ask(NamedTuple):
    """A question; back comes whether it was answered, and the answer."""

    question: object


class Tell(NamedTuple):
    """No question."""

    news: object


class Desk:
    """Where the episodes of a process ask for what all share, each thread over its own lane, as values."""

    def __init__(self, news: Line) -> None:
        self._news, self._telling = news, threading.Lock()
        self._mine = threading.local()
        self.gone: Callable[[], None] = lambda: None

    def sit(self, lane: Line) -> None:
        """The calling thread has this lane."""
        self._mine.lane = lane

    def ask(self, question: object) -> object:
        """The answer. Raises ConnectionError: nobody is there any more; EnvironmentProblem: it could not be kept."""
        lane: Line = self._mine.lane
        try:
            send(lane, Ask(question))
            said = receive(lane)
        except (EOFError, OSError):
            self.gone()
            raise ConnectionAbortedError from None
        match said:
            case (True, answer):
                return answer
            case _:
                raise EnvironmentProblem("what all processes share could not be kept")

    def tell(self, news: object) -> None:
        """Say something that needs no answer, before what is asked next."""
        lane: Line = self._mine.lane
        try:
            send(lane, Tell(news))
        except OSError:
            self.gone()

    def report(self, news: object) -> None:
        """Say something for no episode in particular, from any thread."""
        try:
            with self._telling:
                send(self._news, news)
        except OSError:
            self.gone()


def work(
    given: bytes,
    told: Line,
    news: Line,
    lanes: Sequence[Line],
) -> None:
    """Play what the lanes say until they are closed, and ``told`` too. The one that began it answers all signals."""
    hear(OF_A_TERMINAL | {signal.SIGTERM})
    sys.setswitchinterval(_SWITCH_S)
    open_player: OpenPlayer
    jobs: Sequence[EpisodeJob]
    jobs, open_player = pickle.loads(given)  # noqa: S301  (our own parent's)
    desk = Desk(news)
    with open_player(desk) as player, rare_collections():
        desk.gone = player.shut_down
        threads = [threading.Thread(target=_sit, args=(desk, lane, jobs, player), daemon=True) for lane in lanes]
        for thread in threads:
            thread.start()
        _heed(told, player)
        for thread in threads:
            thread.join(_END_S)
    if any(thread.is_alive() for thread in threads):
        os._exit(1)


def _heed(told: Line, player: Player) -> None:
    """Until whoever began this process has nothing more to say, or is no more."""
    with suppress(EOFError, OSError):
        while True:
            if receive(told) == "cancel":
                player.cancel()
            else:
                player.shut_down()
    player.shut_down()


def _sit(desk: Desk, lane: Line, jobs: Sequence[EpisodeJob], player: Player) -> None:
    desk.sit(lane)
    with suppress(EOFError, OSError):
        while True:
            order = receive(lane)
            if not isinstance(order, Order):  # pragma: no cover  (a lane says nothing else between two episodes)
                raise TypeError(type(order).__name__)
            job = jobs[order.place]
            if job.attempt != order.attempt:
                job = job.model_copy(update={"attempt": order.attempt})
            send(lane, played(partial(player.run, job)))
