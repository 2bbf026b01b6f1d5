"""T10 and T11: what of the conversation the actor is shown, measured as it is encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.episode.closing import ask_to_close, without_calls
from harness.episode.encoding import OPEN
from harness.episode.hands import TurnInHand
from harness.episode.world import World
from harness.schema.base import Digest, digest_bytes
from harness.schema.message import AssistantMessage, Message, ModelRequest
from harness.schema.observation import Channel
from harness.schema.outcome import Outcome, Reason
from harness.schema.record import BudgetStop, OpPlanned, Projection

__all__ = ["CHECKPOINT_BYTES", "choose", "plan_model", "project", "request_digest"]

#: Largest request that is kept, in bytes of its encoding.
CHECKPOINT_BYTES = 16 << 20


def project(world: World, turn: TurnInHand) -> Outcome | None:
    """T10: the newest whole exchanges that fit; what comes before the first one, and the newest, must."""
    ask_to_close(world, turn)
    actor = world.parts.actor.identity
    asked = ModelRequest(
        model=actor.model or actor.ref,
        messages=tuple(world.messages),
        tools=world.tools,
        **({} if actor.settings is None else {"settings": actor.settings}),
    )
    whole = without_calls(world, asked)
    frame, parts = world.encoded.frame(whole), world.encoded.parts(world.messages)
    limit = world.limits.context_bytes
    sizes, around = [len(part) for part in parts], len(OPEN) + len(frame)
    chosen, size = choose(world.messages, sizes, around, limit)
    omitted = len(parts) - len(chosen)
    world.report("context", Channel.counted(_whole(sizes, around) if omitted else size, size))
    if size > limit:
        return _too_large(world, "context_bytes", limit, size)
    if omitted:
        whole = replace(whole, messages=tuple(world.messages[at] for at in chosen))
        parts = [parts[at] for at in chosen]
    turn.request, turn.digest, turn.size = whole, request_digest(frame, parts), size
    world.requests.append(whole)
    world.record(Projection(turn=turn.number, request=turn.digest, messages=len(chosen), omitted=omitted))
    return None


def plan_model(world: World, turn: TurnInHand) -> Outcome | None:
    """T11: the model operation is decided; its digest is that of the complete effective request."""
    if turn.size > CHECKPOINT_BYTES:
        return _too_large(world, "checkpoint_size", CHECKPOINT_BYTES, turn.size)
    world.record(OpPlanned(operation=turn.operation, purpose="main", digest=turn.digest))
    return None


def choose(messages: Sequence[Message], sizes: Sequence[int], frame: int, limit: int) -> tuple[list[int], int]:
    """Places of the messages that are sent, and the bytes of the request; more than ``limit`` where it must be.

    An exchange is a reply with all that follows it. Older ones are taken newest first, and none behind one that does
    not fit: a conversation with holes in it is another one.
    """
    everything = _whole(sizes, frame)
    if everything <= limit:
        return [*range(len(messages))], everything
    starts = [at for at, message in enumerate(messages) if isinstance(message, AssistantMessage)]
    head = starts[0] if starts else len(messages)
    first = starts[-1] if starts else head
    used = frame + sum(sizes[:head]) + sum(sizes[first:]) + max(head + len(messages) - first - 1, 0)
    for start in reversed(starts[:-1]):
        more = sum(sizes[start:first]) + first - start
        if used + more > limit:
            break
        used, first = used + more, start
    return [*range(head), *range(first, len(messages))], used


def _whole(sizes: Sequence[int], frame: int) -> int:
    """The bytes of a request with all messages, commas between them included."""
    return frame + sum(sizes) + max(len(sizes) - 1, 0)


def request_digest(frame: bytes, parts: Sequence[bytes]) -> Digest:
    """Of the canonical JSON of the request."""
    return digest_bytes(b"".join((OPEN, b",".join(parts), frame)))


def _too_large(world: World, reason: Reason, limit: int, size: int) -> Outcome:
    outcome = Outcome(status="limit_exceeded", reason=reason, limit=limit, observed=size, overshoot=size - limit)
    world.record(BudgetStop(outcome=outcome))
    return outcome
