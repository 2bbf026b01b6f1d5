"""What is played next: plan order, held back by limits of providers, shortened where one refuses everybody."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

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


@dataclass(slots=True)
class _Line:
    """The jobs that one provider answers; those of nobody (scripts, recordings) have a line without bounds."""

    name: str | None
    most: int | None
    waiting: deque[Entry] = field(default_factory=deque)
    running: int = 0
    refusals: int = 0
    left_alone: bool = False

    def can_start(self, pacing: Pacing | None) -> bool:
        if not self.waiting or self.left_alone or (self.most is not None and self.running >= self.most):
            return False
        return pacing is None or self.name is None or self.running < pacing.at_most(self.name)


class Queue:
    """Used by one thread only. Every entry that ``start`` gives must come back by ``ended``.

    ``before`` are results of the same run, in their order, that an earlier process was killed after. ``pacing`` may
    hold a provider back further, and says when one wants to be left alone.
    """

    def __init__(
        self,
        jobs: Sequence[EpisodeJob],
        care: Care,
        before: Sequence[EpisodeResult] = (),
        pacing: Pacing | None = None,
    ) -> None:
        self._care, self._pacing = care, pacing
        self._lines: dict[str | None, _Line] = {}
        for index, job in enumerate(jobs):
            name = _provider(job)
            line = self._lines.setdefault(name, _Line(name, None if name is None else care.concurrency.get(name)))
            line.waiting.append(Entry(index, job))
        for result in before:
            name = answerer(result.receipt.actor)
            if name in self._lines:
                self._count(self._lines[name], result)

    def start(self) -> Entry | None:
        """The first entry in the order of the plan that may start now; None where none may, for now or at all."""
        ready = [line for line in self._lines.values() if line.can_start(self._pacing)]
        if not ready:
            return None
        line = min(ready, key=lambda one: one.waiting[0].index)
        line.running += 1
        return line.waiting.popleft()

    def pause_s(self, entry: Entry) -> float:
        """Seconds to wait before an entry is played: for its provider, and the longer the more often it was tried."""
        name = _provider(entry.job)
        closed_s = 0.0 if name is None or self._pacing is None else self._pacing.closed_s(name)
        return max(self._care.pause(entry.retry) if entry.retry else 0.0, min(closed_s, PATIENCE_S))

    def ended(self, entry: Entry, result: EpisodeResult | None) -> bool:
        """An entry came back; whether it is tried again, after everything that its provider waits for.

        ``result`` is None where it has none.
        """
        line = self._lines[_provider(entry.job)]
        line.running -= 1
        failure = None if result is None else self._count(line, result)
        if failure != "outage" or line.left_alone or entry.job.attempt > self._care.retries:
            return False
        again = entry.job.model_copy(update={"attempt": entry.job.attempt + 1})
        line.waiting.append(Entry(entry.index, again, entry.retry + 1))
        return True

    def _count(self, line: _Line, result: EpisodeResult) -> ProviderFailure | None:
        """A result of a provider; how it failed."""
        failure = provider_failure(result)
        if failure == "refused":
            line.refusals += 1
            line.left_alone = line.left_alone or 0 < self._care.refusals <= line.refusals
        elif failure is None:
            line.refusals = 0
        return failure

    @property
    def left_alone(self) -> dict[str, int]:
        """How many places of the plan were not begun because their provider is left alone, by its name."""
        return {
            name: sum(not entry.retry for entry in line.waiting)
            for name, line in self._lines.items()
            if name is not None and line.left_alone
        }


def _provider(job: EpisodeJob) -> str | None:
    return answerer(job.actor.identity)


def answerer(identity: ActorIdentity) -> str | None:
    """Who is asked over the network; None for scripts and recordings."""
    return identity.provider or identity.ref if identity.kind == "live" else None
