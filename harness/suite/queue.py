"""What is played next: plan order, held back by limits of providers, shortened where one refuses everybody."""

from __future__ import annotations

from bisect import insort
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from harness.ports import Pacing
from harness.receipt import ProviderFailure, provider_failure
from harness.schema.actor import ActorIdentity
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.suite.care import Care

__all__ = ["Entry", "Queue", "answerer"]

#: Longest wait for a provider that wants to be left alone before an episode is begun all the same, in seconds.
PATIENCE_S: Final = 300.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A job with its place in the plan; ``retry`` counts its further attempts in this run, 0 for the first one."""

    index: int
    job: EpisodeJob
    retry: int = 0

    @property
    def in_rounds(self) -> tuple[int, int, int]:
        """Its place where trial 1 of everything comes first; further attempts end a round."""
        return self.job.trial, self.retry, self.index


class _Asked(NamedTuple):
    """Who is asked over the network: two addresses, or two keys, of a dialect have nothing to do with each other."""

    provider: str
    address: str | None
    key_env: str | None


@dataclass(slots=True)
class _Line:
    """The jobs that are answered by the same; those of nobody (scripts, recordings) have a line without bounds."""

    waiting: deque[Entry] = field(default_factory=deque)
    actors: set[str] = field(default_factory=set)
    refusals: int = 0
    left_alone: bool = False


class Queue:
    """Used by one thread only. Every entry that ``start`` gives must come back by ``ended``.

    ``before`` are results of the same run, in their order, that an earlier process was killed after. ``pacing`` may
    hold a provider back further, and says when one wants to be left alone. ``in_rounds`` plays trial 1 of everything
    first, and so on; while a trial goes on only the next one may begin, so that little is played for nothing.
    """

    def __init__(
        self,
        jobs: Sequence[EpisodeJob],
        care: Care,
        before: Sequence[EpisodeResult] = (),
        pacing: Pacing | None = None,
        *,
        in_rounds: bool = False,
    ) -> None:
        self._care, self._pacing, self._in_rounds = care, pacing, in_rounds
        self._rounds: Counter[int] = Counter()
        self._needed: Callable[[EpisodeJob], bool] = lambda _: True
        self._lines: dict[_Asked | None, _Line] = {}
        self._running: Counter[str] = Counter()
        of_actors: dict[str, _Line] = {}
        for index, job in enumerate(jobs):
            line = self._lines.setdefault(_asked(job), _Line())
            line.waiting.append(Entry(index, job))
            line.actors.add(job.actor.identity.ref)
            of_actors[job.actor.identity.digest] = line
        if in_rounds:
            for line in self._lines.values():
                line.waiting = deque(sorted(line.waiting, key=_round))
        for result in before:
            actor = result.receipt.actor
            if actor.digest in of_actors:
                self._count(of_actors[actor.digest], result)

    def start(self) -> Entry | None:
        """The first entry in the order of the plan that may start now; None where none may, for now or at all."""
        ready = [(asked, line) for asked, line in self._lines.items() if self._can_start(asked, line)]
        if not ready:
            return None
        asked, line = min(ready, key=lambda one: self._place(one[1].waiting[0]))
        first = line.waiting[0]
        if self._in_rounds and first.job.trial > self._oldest + 1:
            return None
        if asked is not None:
            self._running[asked.provider] += 1
        self._rounds[first.job.trial] += 1
        return line.waiting.popleft()

    def _place(self, entry: Entry) -> tuple[int, ...]:
        return entry.in_rounds if self._in_rounds else (entry.index,)

    @property
    def _oldest(self) -> int:
        """The first trial of which something runs, or waits for a provider that is not left alone."""
        waiting = [line.waiting[0].job.trial for line in self._lines.values() if line.waiting and not line.left_alone]
        return min([*waiting, *self._rounds.keys()])

    def keep(self, needed: Callable[[EpisodeJob], bool]) -> set[int]:
        """Let go of what is not ``needed`` from now on, further attempts too; the places that had been waiting."""
        self._needed = needed
        gone: set[int] = set()
        for line in self._lines.values():
            gone |= {entry.index for entry in line.waiting if not needed(entry.job)}
            line.waiting = deque(entry for entry in line.waiting if needed(entry.job))
        return gone

    def _can_start(self, asked: _Asked | None, line: _Line) -> bool:
        if not line.waiting or line.left_alone:
            return False
        if asked is None:
            return True
        running, most = self._running[asked.provider], self._care.concurrency.get(asked.provider)
        within = most is None or running < most
        return within and (self._pacing is None or running < self._pacing.at_most(asked.provider))

    def pause_s(self, entry: Entry) -> float:
        """Seconds to wait before an entry is played: for its provider, and the longer the more often it was tried."""
        asked = _asked(entry.job)
        closed_s = 0.0 if asked is None or self._pacing is None else self._pacing.closed_s(asked.provider)
        return max(self._care.pause(entry.retry) if entry.retry else 0.0, min(closed_s, PATIENCE_S))

    def ended(self, entry: Entry, result: EpisodeResult | None) -> bool:
        """An entry came back; whether it is tried again, after everything that its provider waits for.

        ``result`` is None where it has none.
        """
        asked = _asked(entry.job)
        line = self._lines[asked]
        if asked is not None:
            self._running[asked.provider] -= 1
        self._rounds[entry.job.trial] -= 1
        if not self._rounds[entry.job.trial]:
            del self._rounds[entry.job.trial]
        failure = None if result is None else self._count(line, result)
        if failure != "outage" or line.left_alone or entry.job.attempt > self._care.retries:
            return False
        if not self._needed(entry.job):
            return False
        job = entry.job.model_copy(update={"attempt": entry.job.attempt + 1})
        again = Entry(entry.index, job, entry.retry + 1)
        if self._in_rounds:
            insort(line.waiting, again, key=_round)
        else:
            line.waiting.append(again)
        return True

    def _count(self, line: _Line, result: EpisodeResult) -> ProviderFailure | None:
        """A result of that line; how its provider failed."""
        failure = provider_failure(result)
        if failure == "refused":
            line.refusals += 1
            line.left_alone = line.left_alone or 0 < self._care.refusals <= line.refusals
        elif failure is None:
            line.refusals = 0
        return failure

    @property
    def left_alone(self) -> dict[str, int]:
        """How many places of the plan were not begun because their provider is left alone, by its name.

        Where others of that name are asked too, the actors are told with it: an address is nobody's business.
        """
        names = Counter(asked.provider for asked in self._lines if asked is not None)
        told: dict[str, int] = {}
        for asked, line in self._lines.items():
            if asked is None or not line.left_alone:
                continue
            name = asked.provider
            if names[name] > 1:
                name = f"{name} of actor {', '.join(sorted(line.actors))}"
            told[name] = told.get(name, 0) + sum(not entry.retry for entry in line.waiting)
        return told


def _round(entry: Entry) -> tuple[int, int, int]:
    return entry.in_rounds


def _asked(job: EpisodeJob) -> _Asked | None:
    provider = answerer(job.actor.identity)
    return None if provider is None else _Asked(provider, job.actor.base_url, job.actor.key_env)


def answerer(identity: ActorIdentity) -> str | None:
    """The provider that is asked over the network, by name; None for scripts and recordings."""
    return identity.provider or identity.ref if identity.kind == "live" else None
