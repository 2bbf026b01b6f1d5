"""What a request shows, whatever dialect it came in, and the seam of a dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from harness.schema.base import JsonValue

__all__ = ["Conversation", "Dialect"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """``prompt`` is the first user message, ``answers`` the texts of all tool messages, oldest first.

    ``words`` is the size of the whole request, in words: it does not depend on how long a path is.
    """

    model: str
    prompt: str
    answers: tuple[str, ...]
    streamed: bool
    words: int


class Dialect(Protocol):
    """How one wire dialect is read by the side that answers; pure."""

    def read(self, body: bytes) -> Conversation | None:
        """The request in a body, None where there is none."""

    def failure(self, status: int, code: str, message: str) -> dict[str, JsonValue]:
        """The body of an error in this dialect's own form."""
