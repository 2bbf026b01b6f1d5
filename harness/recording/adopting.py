"""What a driver recorded before it was killed, taken over by the one that goes on with its episode."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness.recording.codec import load_half
from harness.recording.interrupted import halves, remove
from harness.schema.recording import Exchange, Recording, RecordingHeader

__all__ = ["Leftover", "is_whole", "used"]

_REFUSED: Final = 300
#: Of attempts without a reply that may have had an answer: one that could not be used, or that came too late.
_MAY_BE_ANSWERED: Final = frozenset({"failed", "unknown"})


class Leftover:
    """The fullest half of a recording that lies at ``path``. Raises StoreError where it cannot be looked at."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # what has its place already was finished: only the half of it is left
        self.is_done = path.exists()
        idle = [] if self.is_done else [half for half in halves(path) if not half.busy]
        found = [half for one in idle if (half := load_half(one.path)) is not None]
        self.half: Recording | None = max(found, key=lambda half: len(half.exchanges), default=None)
        self._found = halves(path)

    def fits(self, header: RecordingHeader) -> bool:
        """Whether it is of the same episode; who answered may have said meanwhile that it is a simulation."""
        if self.half is None:
            return False
        return self.half.header.model_copy(update={"provenance": header.provenance}) == header

    def remove(self) -> None:
        """It is taken over: the files go, but one that is being written. Raises StoreError."""
        remove(self._found)


def used(exchanges: Sequence[Exchange]) -> tuple[Exchange, ...]:
    """Without answers that no driver lived to read, numbered anew: each was asked for once more, and answered again.

    After an answer that was read another question follows; after a refusal the same one may.
    """
    pairs = zip(exchanges, (*exchanges[1:], None), strict=True)
    kept = [one for one, after in pairs if after is None or one.key != after.key or one.response.status >= _REFUSED]
    return tuple(one.model_copy(update={"number": number}) for number, one in enumerate(kept, start=1))


def is_whole(exchanges: Sequence[Exchange], statuses: Sequence[str]) -> bool:
    """Whether the answers of all completed calls are there, by the status of each attempt; others may have one too."""
    answered = sum(one.response.status < _REFUSED for one in exchanges)
    others = sum(status in _MAY_BE_ANSWERED for status in statuses)
    completed = statuses.count("completed")
    return completed <= answered <= completed + others
