"""An actor that is replayed: it fails as it was recorded, and is asked again only where it was asked again then."""

from __future__ import annotations

from collections.abc import Callable

from harness.errors import ProviderError
from harness.ports import Actor, TurnContext
from harness.schema.actor import ActorIdentity
from harness.schema.message import ModelRequest, Reply

__all__ = ["ReplayedActor"]


class ReplayedActor:
    """``actor`` over recorded answers; ``again`` tells whether the last request was recorded once more at once."""

    def __init__(self, actor: Actor, again: Callable[[], bool]) -> None:
        self._actor, self._again = actor, again

    @property
    def identity(self) -> ActorIdentity:
        """As receipts name it."""
        return self._actor.identity

    @property
    def is_immediate(self) -> bool:
        """What it says is written down."""
        return True

    def reply(self, request: ModelRequest, context: TurnContext) -> Reply:
        """The recorded reply. Raises ProviderError, retryable where the same request was recorded once more."""
        try:
            return self._actor.reply(request, context)
        except ProviderError as error:
            error.retryable = self._again()
            raise

    def close(self) -> None:
        """Release what the actor holds."""
        self._actor.close()
