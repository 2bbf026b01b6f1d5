"""The closing turn: what the actor says once nothing more is to be done."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.schema.base import Frozen
from harness.schema.counting import counted
from harness.schema.name import Code

__all__ = ["ClosingSpec"]


class ClosingSpec(Frozen):
    """One more turn once the facts of ``accept`` are there, in which no tool may be called.

    It is asked for with the text ``ask``, and no limit of turns or calls counts it. Its text is the final answer,
    which checks of the end look at; one that is blank or longer than ``text_bytes`` fails with ``failed``, a call in it
    with ``called``.
    """

    ask: Annotated[str, Field(min_length=1, max_length=8_192)]
    text_bytes: Annotated[int, Field(ge=1, le=65_536)] = 16_384
    failed: Code
    called: Code

    @property
    def wanted(self) -> str:
        """What its text must be, in words."""
        return f"a text of at most {counted(self.text_bytes, 'byte')}"
