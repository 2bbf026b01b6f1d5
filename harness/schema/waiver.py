"""What a scenario's author knows of it better than ``harness check``: each exception with its reason."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from harness.schema.base import Frozen

__all__ = ["WAIVABLE", "Equivalence", "Waived", "WaiverSpec"]

#: What a finding that may be waived begins with; what makes a scenario wrong, and not only less sure, is none of them.
WAIVABLE: Final = (
    *("kind", "fact", "code", "check of", "proof of", "answer key", "write", "volatile", "offer of", "fixture"),
)

Mutation = Annotated[
    str, Field(max_length=2_000, pattern=r"^((drop|swap|repeat) [1-9][0-9]{0,3}|alter [1-9][0-9]{0,3} \S.*)$")
]
#: Why it is right as it is.
Reason = Annotated[str, Field(min_length=1, max_length=1_000, pattern=r"\S")]


class Equivalence(Frozen):
    """Mutants of a passing script that may pass: they are as right as the script.

    ``script`` is ``reference`` or the name of a right one. ``mutations`` are as the report calls them: ``drop N``,
    ``swap N`` (answer N with the one after it), ``repeat N``, or ``alter N PLACE``; N counts answers from 1.
    """

    script: str = Field(min_length=1, max_length=200)
    mutations: tuple[Mutation, ...] = Field(min_length=1, max_length=256)
    reason: Reason


class Waived(Frozen):
    """A finding that is known and accepted: ``what`` is what the report prints before the colon."""

    what: Annotated[str, Field(max_length=1_000, pattern=rf"^({'|'.join(WAIVABLE)}) \S.*$")]
    reason: Reason


class WaiverSpec(Frozen):
    """Exceptions for ``harness check``; no episode depends on them. One that is not needed is a finding itself."""

    equivalent: tuple[Equivalence, ...] = Field(default=(), max_length=256)
    waived: tuple[Waived, ...] = Field(default=(), max_length=256)
