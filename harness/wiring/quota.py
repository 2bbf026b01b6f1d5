"""One live episode at the run's ceiling: what its attempts can cost at most, and what they did cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Protocol, runtime_checkable

from harness import meter
from harness.schema.actor import ActorSpec
from harness.schema.base import fields_of
from harness.schema.message import ModelRequest, Usage
from harness.schema.run import EpisodeJob
from harness.schema.spending import Entry, entry_name

__all__ = ["Account", "EpisodeQuota", "Foretold", "most_of"]


class Account(Protocol):
    """What all episodes of a run may cost together, as ``meter.Ceiling`` has it; this process's own, or another's."""

    def is_open(self) -> bool:
        """Whether an episode may begin."""

    def before(self, attempt: str) -> Entry | None:
        """The last that an interrupted run said of an attempt."""

    def reserve(self, attempt: str, most: Decimal | None, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        """Set aside what an attempt can cost and take at most; whether it may be made."""

    def settle(self, attempt: str, cost: Decimal | None) -> None:
        """What it really cost; None: nobody knows."""


@runtime_checkable
class Foretold(Protocol):
    """An account that another process holds: told what will be reserved, it can be asked for two things at once."""

    def foretold(self, attempt: str, most: Decimal | None, seconds: Callable[[], float]) -> None:
        """Once a call may be sent this is reserved, with so many seconds as there are then."""


class EpisodeQuota:
    """Reserves for the attempts of one job."""

    def __init__(self, ceiling: Account, job: EpisodeJob) -> None:
        self._ceiling, self._actor, self._key = ceiling, job.actor, job.key
        self._foretelling = ceiling if isinstance(ceiling, Foretold) else None
        self._foretold: tuple[str, Decimal | None] = "", None

    def admits(self) -> bool:
        """Whether the episode may begin."""
        return self._ceiling.is_open()

    def before(self, attempt: str) -> Entry | None:
        """What the run's account says of an attempt that an earlier driver made."""
        return self._ceiling.before(self._name(attempt))

    def reserve(self, attempt: str, request: ModelRequest, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        """Set aside the most that an attempt can cost."""
        name, (known, most) = self._name(attempt), self._foretold
        if name != known:
            most = most_of(self._actor, request)
        return self._ceiling.reserve(name, most, seconds=seconds, stopped=stopped)

    def foretold(self, attempt: str, request: ModelRequest, seconds: Callable[[], float]) -> None:
        """An attempt will be reserved with this, once it has waited for its turn at the provider."""
        if self._foretelling is not None:
            self._foretold = self._name(attempt), most_of(self._actor, request)
            self._foretelling.foretold(*self._foretold, seconds)

    def settle(self, attempt: str, usage: Usage | None, *, billed: bool) -> None:
        """What it did cost; one that was not sent, or was turned away, cost nothing."""
        cost = meter.cost(usage, self._actor.price) if billed else Decimal(0)
        self._ceiling.settle(self._name(attempt), cost)

    def _name(self, attempt: str) -> str:
        return entry_name(self._key, attempt)


def most_of(actor: ActorSpec, request: ModelRequest) -> Decimal | None:
    """In millionths of a US dollar; None where the price or the bound on the output is not known.

    A token is at least a byte of what is sent, and what is sent is at most as long as the request's JSON in ASCII.
    """
    settings = actor.identity.settings
    if actor.price is None or settings is None or settings.max_output_tokens is None:
        return None
    size = len(json.dumps(request, default=fields_of))
    return meter.most(actor.price, input_tokens=size, output_tokens=settings.max_output_tokens)
