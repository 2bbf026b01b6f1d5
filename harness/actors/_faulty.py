"""An actor whose answers go wrong as a scenario says, whoever it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.errors import ProviderError
from harness.ports import Actor, TurnContext
from harness.schema.actor import ActorIdentity
from harness.schema.fault import ActorFault
from harness.schema.message import ModelRequest, Reply

__all__ = ["FaultyActor"]

#: How often a fault that takes time looks whether somebody asked to stop, in seconds.
NOTICE_S = 0.05


class FaultyActor:
    """Each fault hits the first attempt at its turn, once; which attempt that is the journal knows, and no counter.

    A fault that stands in the place of an answer (``hang``, ``disconnect``, ``refuse``, ``overflow``) asks nobody.
    """

    def __init__(
        self,
        actor: Actor,
        faults: Sequence[ActorFault],
        *,
        pause: Callable[[float], None],
        cancel: Callable[[], None],
    ) -> None:
        """``pause`` waits so many seconds; ``cancel`` asks for this episode to stop."""
        self._actor, self._faults = actor, {fault.at: fault for fault in faults}
        self._pause, self._cancel = pause, cancel

    @property
    def identity(self) -> ActorIdentity:
        """That of the actor."""
        return self._actor.identity

    @property
    def left(self) -> int:
        """Answers of a script that were not asked for yet."""
        return int(getattr(self._actor, "left", 0))

    def reply(self, request: ModelRequest, context: TurnContext) -> Reply:
        """What the actor says, or what goes wrong. Raises ProviderError or ScriptExhaustedError."""
        visit = context.visit
        fault = self._faults.get(visit.turn)
        # an answer that a kill kept from going wrong does so later; who cancelled, the kill or the fault, nothing tells
        begun = context.tries - 1 if fault is not None and fault.kind == "cancel" else visit.again
        if fault is None or visit.attempt + begun > 1:
            return self._actor.reply(request, context)
        match fault.kind:
            case "hang":
                self._wait(context.deadline_s, context)
                raise ProviderError("timeout", "the scenario lets the call hang")
            case "disconnect":
                raise ProviderError("connection_lost", "the scenario lets the connection fail", retryable=True)
            case "overflow":
                raise ProviderError("invalid_request", "the scenario lets the prompt be too long")
            case "refuse":
                return Reply(text=None, refusal="refused", finish="refusal")
            case "delay":
                self._wait(fault.seconds or 0.0, context)
            case "cancel":
                self._cancel()
            case "stream":
                context = replace(context, streamed=True)
            case _:
                pass
        reply = self._actor.reply(request, context)
        if fault.kind == "truncate":
            return reply.truncated()
        return reply.model_copy(update={"usage": None}) if fault.kind == "no_usage" else reply

    def close(self) -> None:
        """Release what the actor holds; idempotent."""
        self._actor.close()

    def _wait(self, seconds: float, context: TurnContext) -> None:
        while seconds > 0 and not context.cancelled():
            step = min(seconds, NOTICE_S)
            self._pause(step)
            seconds -= step
