"""Before an attempt is started it waits for its turn at the provider; who waits there is not at work."""

from __future__ import annotations

from harness.episode.endings import provider_ending
from harness.episode.world import World
from harness.errors import ProviderError
from harness.schema.outcome import Outcome

__all__ = ["enter", "leave"]


def enter(world: World) -> Outcome | None:
    """Wait until a call may be sent, or the ending where it may not.

    What is waited here counts neither as time at work nor as time for further attempts; the deadline is absolute.
    """
    pace = world.parts.pace
    if pace is None:
        return None
    patience_s = min(world.scenario.limits.model_retry_s, max(world.bounds.left(), 0.0))
    began = world.parts.clock.monotonic()
    with world.stopwatch.idle():
        entered = pace.enter(patience_s=patience_s, stopped=lambda: _is_over(world))
    world.queued_s += world.parts.clock.monotonic() - began
    if entered == "closed":
        error = ProviderError("rate_limited", "the provider wants to be left alone for longer than a call may wait")
        world.problem = str(error)
        return provider_ending(error)
    return None if entered == "may_send" else world.bounds.cancellation() or world.bounds.passed()


def leave(world: World) -> None:
    """The call is over, or given up."""
    if world.parts.pace is not None:
        world.parts.pace.leave()


def _is_over(world: World) -> bool:
    return world.bounds.cancelled() or world.bounds.passed() is not None
