"""What the server does with a connection, decided beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.schema.rehearsal import FaultKind, ServedCall

__all__ = ["Performance"]


@dataclass(frozen=True, slots=True)
class Performance:
    """An answer, and how it goes down the line.

    ``call`` is None where the request was refused: nothing was played. ``pieces`` are sent one by one; without
    ``streamed`` their length is told beforehand. Before the piece with the number ``pauses_at`` there is silence of
    ``pause_s`` seconds (None: until the client gives up); before that with the number ``breaks_at`` the connection
    ends, by a reset if the ``fault`` is one. The ``fault`` ``hang`` never answers. ``retry_in_s`` becomes a
    ``retry-after`` with a date, by the clock of who sends.
    """

    status: int
    pieces: tuple[bytes, ...]
    headers: Mapping[str, str] = field(default_factory=dict)
    latency_ms: float = 0.0
    fault: FaultKind | None = None
    call: ServedCall | None = None
    streamed: bool = False
    pauses_at: int | None = None
    pause_s: float | None = None
    breaks_at: int | None = None
    retry_in_s: float | None = None

    @property
    def body(self) -> bytes:
        """All pieces together."""
        return b"".join(self.pieces)
