"""What is made to go wrong with an actor's answers, and when."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.schema.base import Frozen

__all__ = ["ActorFault", "ActorFaultKind"]

#: ``delay``: the answer comes so much later. ``hang``: none comes. ``disconnect``: the connection is lost while it is
#: waited for. ``refuse``: the model declines. ``truncate``: half of the answer, ended by the token limit.
#: ``no_usage``: the answer without its token counts. ``overflow``: the prompt is called too long. ``cancel``: somebody
#: asks to stop while it is waited for. ``stream``: the answer comes as a stream, whether the actor streams or not.
ActorFaultKind = Literal[
    "delay", "hang", "disconnect", "refuse", "truncate", "no_usage", "overflow", "cancel", "stream"
]


class ActorFault(Frozen):
    """Happens once: at the first attempt of turn ``at``, which counts from 1. ``seconds`` belongs to ``delay``."""

    kind: ActorFaultKind
    at: int = Field(ge=1, le=10_000)
    seconds: float | None = Field(default=None, gt=0, le=3_600)
