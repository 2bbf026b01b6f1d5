"""The room of a batch of results: what is known to be short comes first, the rest is shared (specification 2.11)."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Batch"]


class Batch:
    """Tells each answer its room in turn, so that all together have at most ``limit`` characters.

    ``notices`` has one number per call: the length of the answer where it is a notice of ours that is known before,
    None where a result will come. Notices have their room whatever the results before them are; the results share what
    is left, and what one of them does not need goes to those after it.
    """

    def __init__(self, limit: int, notices: Sequence[int | None]) -> None:
        self._left = limit
        self._waiting: list[int | None] = []
        for notice in notices:
            kept = None if notice is None else min(notice, limit)
            limit -= kept or 0
            self._waiting.append(kept)

    def room(self) -> int:
        """Characters that the next answer may have."""
        following = self._waiting[0]
        if following is not None:
            return following
        notices = sum(length for length in self._waiting if length is not None)
        return max(self._left - notices, 0) // sum(length is None for length in self._waiting)

    def took(self, characters: int) -> None:
        """The next answer has so many characters."""
        self._waiting.pop(0)
        self._left -= characters
