"""Whether, and when, a live model is asked again for a turn; nothing below this layer sends a request twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.episode.world import World
from harness.errors import ProviderError

if TYPE_CHECKING:
    import tenacity

__all__ = ["Retries", "backoff_s", "jitter"]

#: Longest pause before another attempt where the provider does not ask for one, in seconds.
PAUSE_MAX_S = 30.0
#: How often cancellation is looked for in a pause, in seconds.
NOTICE_S = 0.05


def backoff_s(attempt: int) -> float:
    """Seconds to wait after that attempt, from 1: they double, up to a bound, and a random part of a second is added.

    So clients that were refused together do not come back together.
    """
    import tenacity  # noqa: PLC0415  (it costs a tenth of a second, and most runs never need it)

    return tenacity.wait_exponential_jitter(max=PAUSE_MAX_S)(_after(attempt))


def jitter() -> float:
    """A number from 0 to 1 that is another one each time."""
    import tenacity  # noqa: PLC0415  (as above)

    return tenacity.wait_random(0, 1)(_after(1))


def _after(attempt: int) -> tenacity.RetryCallState:
    import tenacity  # noqa: PLC0415  (as above)

    state = tenacity.RetryCallState(tenacity.Retrying(), None, (), {})
    state.attempt_number = attempt
    return state


class Retries:
    """The attempts at one model call: bounded in number and in time, and by the episode's own bounds."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._began = self._passed_s

    def allow(self, attempt: int, error: ProviderError) -> bool:
        """Whether the call is made again after that attempt failed; on return the pause before it is over.

        Only what may be over by then is tried again, and only where nothing of a reply had arrived. What the provider
        asks for is waited, unless that is longer than there is time. A script's failures are its answers, and a
        recording tells itself whether the request was sent again.
        """
        kind = self._world.parts.actor.identity.kind
        if kind != "live":
            return kind == "recorded" and error.retryable  # what was recorded is played, at once
        limits = self._world.limits
        if not error.retryable or error.delivered or attempt >= limits.model_attempts:
            return False
        pause = max(backoff_s(attempt), error.retry_after_s or 0.0)
        if pause >= min(limits.model_retry_s - (self._passed_s - self._began), self._world.bounds.left()):
            return False
        return self._pause(pause)

    @property
    def _passed_s(self) -> float:
        """Seconds on the clock but for those in which others had to be waited for."""
        return self._world.parts.clock.monotonic() - self._world.queued_s

    def _pause(self, seconds: float) -> bool:
        """Wait; False where it was cancelled meanwhile."""
        clock, bounds = self._world.parts.clock, self._world.bounds
        until = clock.monotonic() + seconds
        while (rest := until - clock.monotonic()) > 0:
            if bounds.cancelled():
                return False
            self._world.parts.pause(min(rest, NOTICE_S))
        return not bounds.cancelled()
