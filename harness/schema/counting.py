"""How many of what, as people say it."""

from __future__ import annotations

__all__ = ["counted", "of_all", "worded"]


def counted(number: int, noun: str, many: str | None = None) -> str:
    """``1 episode``, ``2 episodes``; ``many`` is the plural where it is not the noun with an s."""
    return f"{number} {worded(number, noun, many or f'{noun}s')}"


def of_all(part: int, total: int, noun: str) -> str:
    """``1 of 2 episodes``, ``1 of 1 episode``: the noun goes with the whole."""
    return f"{part} of {counted(total, noun)}"


def worded(number: int, one: str, many: str) -> str:
    """The word that goes with a number: ``worded(2, "is", "are")``."""
    return one if number == 1 else many
