"""A session in a process of its own, which asks the one that began it for what all processes share.

Keys come with the environment, which the process has from that one: what is sent there holds none.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from harness.episode.retrying import jitter
from harness.errors import ProviderError
from harness.receipt import keep_output
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.run import LateRow
from harness.schema.spending import Entry
from harness.suite import answerer
from harness.wiring.actors import secret_guard
from harness.wiring.pacing import CallEnd, end_of
from harness.wiring.places import Settings
from harness.wiring.recordings import keeping
from harness.wiring.session import Session
from harness.wiring.sharing import (
    Admits,
    Before,
    Ended,
    Enter,
    Entered,
    Leave,
    Question,
    Reserve,
    Reserved,
    Settle,
)

__all__ = ["Away", "Desk", "Work", "opener"]

_Value = TypeVar("_Value")


class Desk(Protocol):
    """Where the episode on the calling thread asks for what all processes of a run share, in values to be pickled."""

    def ask(self, question: object) -> object:
        """The answer. Raises ConnectionError: nobody is there any more; EnvironmentProblem: it could not be kept."""

    def tell(self, news: object) -> None:
        """Say something that needs no answer, before what is asked next."""

    def report(self, news: object) -> None:
        """Say something for no episode in particular, from any thread."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the sessions of all processes have alike: as a Session has it, and nothing that may not be pickled.

    ``run`` is the folder of the run, ``keep`` as of ``--keep``; ``in_versions`` as a Keeping has it.
    """

    settings: Settings
    actors: tuple[ActorSpec, ...]
    run: Path
    keep: Literal["failed", "judged", "all", "none"]
    is_new: bool
    in_versions: frozenset[str] = frozenset()


def opener(work: Work) -> Callable[[Desk], object]:
    """Opens such a session at a desk; it can be pickled, without the environment."""
    return partial(_opened, replace(work, settings=replace(work.settings, environ={})))


@contextmanager
def _opened(work: Work, desk: Desk) -> Iterator[Session]:
    settings = replace(work.settings, environ=dict(os.environ))
    away = Away(desk)
    guard = secret_guard(settings, work.actors)
    with Session(
        settings,
        keeping(*(settings, work.actors, work.run / "recordings", work.keep), mode=0o700, in_versions=work.in_versions),
        work.run / "episodes",
        None if work.keep == "none" else partial(keep_output, work.run, guard=guard),
        late_row=away.late_row,
        ceiling=away,
        paces=away,
        is_new=work.is_new,
    ) as session:
        yield session


class Away:
    """The account and the paces of a run, held by another process. Safe to use from any thread that plays."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._mine = threading.local()

    def is_open(self) -> bool:
        """Whether an episode may begin."""
        return self.asked(Admits(), bool, nobody=False)

    def before(self, attempt: str) -> Entry | None:
        """What an interrupted run said of an attempt. Raises ConnectionError."""
        said = self._desk.ask(Before(attempt))
        return said if isinstance(said, Entry) else None

    def reserve(self, attempt: str, most: Decimal | None, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        """Set aside what it can cost at most; nothing once nobody is there any more."""
        self._mine.foretold = None
        answered, self._mine.answered = self._mine.__dict__.get("answered"), None
        if answered is not None and answered[0] == attempt and not answered[1].ask_again:
            may: bool = answered[1].may
            return may
        asked = Reserve(attempt, most, seconds)
        while not stopped():
            said = self.asked(asked, Reserved, nobody=Reserved(may=False))
            if not said.ask_again:
                return said.may
        return False

    def foretold(self, attempt: str, most: Decimal | None, seconds: Callable[[], float]) -> None:
        """The episode on this thread will reserve that; it is asked for together with the turn at the provider."""
        self._mine.foretold, self._mine.answered = (attempt, most, seconds), None

    def entered(self, patience_s: float, share: float) -> Entered:
        """Whether the episode on this thread may send a call now, and with that what it foretold."""
        foretold = self._mine.__dict__.get("foretold")
        then = None if foretold is None else Reserve(foretold[0], foretold[1], foretold[2]())
        said = self.asked(Enter(patience_s, share, then), Entered, nobody=Entered("stopped"))
        if then is not None and said.then is not None:
            self._mine.answered = then.attempt, said.then
        return said

    def settle(self, attempt: str, cost: Decimal | None) -> None:
        """What it really cost. How the call ended that this settles goes along, for both come at once."""
        left, self._mine.left = self._mine.__dict__.get("left"), None
        self._desk.tell(Settle(attempt, cost, left))

    def leave(self, left: Leave) -> None:
        """A call of the episode on this thread is out no more; told with what is said next."""
        self._mine.left = left

    def visitor(self, identity: ActorIdentity) -> _Visit | None:
        """For one episode, on the thread that plays it."""
        name = answerer(identity)
        return None if name is None else self._visit

    def hearing(self, identity: ActorIdentity) -> _Visit | None:
        """That of the same episode: an actor is made before the rest of it."""
        name = answerer(identity)
        if name is None:
            return None
        self._mine.left = self._mine.foretold = self._mine.answered = None
        visit = self._mine.visit = _Visit(self, self._desk, name)
        return visit

    @property
    def _visit(self) -> _Visit:
        visit: _Visit = self._mine.visit
        return visit

    def late_row(self, row: LateRow) -> None:
        """Usage that came after its episode was told."""
        self._desk.report(row)

    def asked(self, question: Question, kind: type[_Value], *, nobody: _Value) -> _Value:
        """The answer, of that kind; ``nobody`` where nobody is there any more."""
        left, self._mine.left = self._mine.__dict__.get("left"), None
        try:
            if left is not None:
                self._desk.tell(left)
            said = self._desk.ask(question)
        except ConnectionError:
            return nobody
        if not isinstance(said, kind):
            raise TypeError(type(said).__name__)
        return said


class _Visit:
    """One live episode at the pace of its provider; told how its calls end, from any thread."""

    def __init__(self, away: Away, desk: Desk, provider: str) -> None:
        self._away, self._desk, self._provider = away, desk, provider
        self._lock = threading.Lock()
        self._is_in = False
        self._begun = 0
        self._share = jitter()
        self._ends: list[CallEnd] = []

    def enter(self, *, patience_s: float, stopped: Callable[[], bool]) -> Literal["may_send", "stopped", "closed"]:
        """Wait until a call may be sent; ``stopped`` once nobody is there any more."""
        while not self._is_in and not stopped():
            said = self._away.entered(patience_s, self._share)
            if said.may == "closed":
                return "closed"
            if said.may == "may_send":
                with self._lock:
                    self._is_in, self._begun = True, said.begun
        return "may_send" if self._is_in else "stopped"

    def leave(self) -> None:
        """The call is over; how it ended goes along."""
        with self._lock:
            was_in, self._is_in = self._is_in, False
            ends, self._ends = tuple(self._ends), []
        if was_in:
            self._away.leave(Leave(ends))

    def begun(self) -> int:
        """A call begins."""
        return self._begun

    def ended(self, begun: int, headers: Mapping[str, str], failure: ProviderError | None) -> None:
        """A call ended: it is told with the next ``leave``, or at once where nobody waited for it any more."""
        end = end_of(begun, headers, failure)
        if end is None:
            return
        with self._lock:
            if self._is_in:
                self._ends.append(end)
                return
        self._desk.report(Ended(self._provider, end))
