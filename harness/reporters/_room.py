"""The parts of a page that has only so much room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from markupsafe import Markup

__all__ = ["Room"]


class Room:
    """Takes parts by their places until ``size`` bytes are used up. A place that got nothing holds an empty text."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.shown: defaultdict[str, Markup] = defaultdict(Markup)

    def add(self, parts: Mapping[str, Markup]) -> bool:
        """Take all of these parts, in place of what stood there, where they fit; else none of them."""
        before = sum(len(self.shown[place].encode()) for place in parts if place in self.shown)
        size = sum(len(part.encode()) for part in parts.values()) - before
        if size > self.left:
            return False
        self.left -= size
        self.shown.update(parts)
        return True
