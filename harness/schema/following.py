"""Calls that the harness makes itself after a call of the actor, to see what came of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.schema.base import Frozen
from harness.schema.name import Code, KindName, Pointer
from harness.schema.rules import Expectation

__all__ = ["FollowUp"]


class FollowUp(Frozen):
    """One call of the control plane after each call of ``kind`` whose result holds; the actor is not told of it.

    ``plane`` are its arguments. ``answer`` are expectations on what it answers: they belong to the actor's call, which
    fails with a check's own code, or with ``failed``. So does one after which this call cannot be made well.
    """

    kind: KindName
    plane: Annotated[tuple[str, ...], Field(min_length=1, max_length=64)]
    failed: Code
    answer: dict[Pointer, Expectation] = Field(min_length=1, max_length=256)
