"""How many of what, as people say it."""

from __future__ import annotations

__all__ = ["counted", "of_all", "percent", "worded", "worded_of"]


def counted(number: int, noun: str, many: str | None = None) -> str:
    """``1 episode``, ``2,000 episodes``; ``many`` is the plural where it is not the noun with an s."""
    return f"{number:,} {worded(number, noun, many or f'{noun}s')}"


def of_all(part: int, total: int, noun: str) -> str:
    """``1 of 2 episodes``, ``1 of 1 episode``: the noun goes with the whole."""
    return f"{part:,} of {counted(total, noun)}"


def percent(share: float) -> str:
    """``93 %`` of a share from 0 to 1: 0 and 100 only where it is that, else ``< 1 %`` and ``> 99 %``."""
    whole = round(100 * share)
    if whole in {0, 100} and share not in {0.0, 1.0}:
        return "< 1 %" if whole == 0 else "> 99 %"
    return f"{whole} %"


def worded(number: int, one: str, many: str) -> str:
    """The word that goes with a number: ``worded(2, "is", "are")``."""
    return one if number == 1 else many


def worded_of(part: int, total: int, one: str, many: str) -> str:
    """The word that goes with a part of a whole: ``0 of 1 episode is``, ``0 of 2 episodes are``, ``1 of 2 is``."""
    return one if 1 in {part, total} else many
