"""What a request shows, whatever dialect it came in, and the seam of a dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from harness.schema.base import JsonValue

__all__ = ["Conversation", "Dialect"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """``prompt`` is the first user message, ``answers`` the texts of all tool messages, oldest first.

    ``words`` is the size of the whole request, in words: it does not depend on how long a path is. Without ``counted``
    a stream is not asked to tell its usage.
    """

    model: str
    prompt: str
    answers: tuple[str, ...]
    streamed: bool
    words: int
    counted: bool = True


class Dialect(Protocol):
    """How one wire dialect is read by the side that answers; pure. ``path`` is one without its query."""

    @property
    def name(self) -> str:
        """That of the codec which writes its answers."""

    @property
    def base(self) -> str:
        """The path of the base URL as users of the dialect write it, empty where it has none."""

    @property
    def place(self) -> str:
        """Where requests go, for a person to read."""

    @property
    def models_path(self) -> str:
        """Where its clients ask which models there are."""

    @property
    def mark(self) -> str | None:
        """A header, in lower case, that only its clients send; None where there is none."""

    def takes(self, path: str) -> bool:
        """Whether a request to that path is one of this dialect."""

    def read(self, target: str, body: bytes) -> Conversation | None:
        """The request in a body that was sent to a path with its query, None where there is none."""

    def failure(self, status: int, code: str, message: str) -> dict[str, JsonValue]:
        """The body of an error in this dialect's own form, its object under ``error``."""

    def failure_event(self, status: int, code: str, message: str) -> bytes:
        """The same as an event of a stream, after which nothing comes."""

    def listed(self, plays: Mapping[str, tuple[str, ...]]) -> dict[str, JsonValue]:
        """The list of models, each with the scenarios that it plays under ``PLAYS``."""
