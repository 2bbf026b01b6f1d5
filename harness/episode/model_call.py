"""One model call on a thread of its own, under a deadline, given up on cancellation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.episode.latch import Bounds
from harness.errors import ProviderError, ReplayMismatchError, ScriptExhaustedError
from harness.ports import Actor, TurnContext
from harness.schema.message import ModelRequest, Reply

__all__ = ["CallEnd", "call_model"]

#: How often the owner looks for cancellation while it waits, in seconds: a bound for noticing, not a delay.
NOTICE_S = 0.05


@dataclass(slots=True)
class CallEnd:
    """How a call ended: exactly one of ``reply``, ``error``, ``gave_up`` is set.

    ``gave_up``: ``cancelled``, ``deadline`` (the episode's) or ``call_deadline`` (its own); the thread is then left
    behind and whatever it brings later is not used.
    """

    reply: Reply | None = None
    error: ProviderError | ScriptExhaustedError | ReplayMismatchError | None = None
    gave_up: str | None = None
    bug: BaseException | None = None
    done: threading.Event = field(default_factory=threading.Event)


def call_model(
    actor: Actor,
    request: ModelRequest,
    context: TurnContext,
    bounds: Bounds,
    *,
    limit_s: float,
    settle: Callable[[Reply], None],
) -> CallEnd:
    """Ask the actor; returns as soon as it answers, ``limit_s`` seconds pass, or cancellation is seen.

    ``settle`` puts a reply where nothing can take it away again, before anybody reads it; it is called by the call's
    own thread, so a reply that comes too late is kept as well.

    Anything an actor raises that is not one of our errors is a bug and is raised again here, on the owner's thread.
    """
    theirs = CallEnd()

    def invoke() -> None:
        try:
            reply = actor.reply(request, context)
            settle(reply)
            theirs.reply = reply
        except (ProviderError, ScriptExhaustedError, ReplayMismatchError) as error:
            theirs.error = error
        except BaseException as error:  # noqa: BLE001  (carried to the owner's thread and raised there)
            theirs.bug = error
        finally:
            theirs.done.set()

    left = min(limit_s, bounds.left())
    thread = threading.Thread(target=invoke, name="model-call", daemon=True)
    thread.start()
    while not theirs.done.wait(min(NOTICE_S, max(left, 0.0))):
        if bounds.cancelled():
            return CallEnd(gave_up="cancelled")
        if bounds.left() <= 0:
            return CallEnd(gave_up="deadline")
        left -= NOTICE_S
        if left <= 0:
            return CallEnd(gave_up="call_deadline")
    if theirs.bug is not None:
        raise theirs.bug
    return theirs
