"""What every dialect's streams are held to: where they end, and how one that breaks off is told."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.ports import Provider

__all__ = ["breaks_off", "cut_off", "end_seen"]

_CUTS = [
    ("connection_lost", "connection_lost", True),
    ("timeout", "timeout", True),
    ("cancelled", "connection_lost", False),
]
_NAMES = ("cut", "category", "retryable")
#: How a stream was cut off, and what that is told as.
cut_off = pytest.mark.parametrize(_NAMES, _CUTS)
#: The same, and closed in order before its end.
breaks_off = pytest.mark.parametrize(_NAMES, [(None, "stream_incomplete", True), *_CUTS])


def end_seen(codec: Provider, body: bytes, cuts: Iterable[int]) -> int:
    """At which byte the end is seen, fed byte by byte; fed in pieces it is seen in the piece of that byte."""
    watch = codec.stream_end()
    seen = next(place for place in range(len(body)) if watch(body[place : place + 1]))
    other, place = codec.stream_end(), 0
    for until in (*sorted(cuts), len(body)):
        over = other(body[place:until])
        assert over == (place <= seen < until)
        place = until
        if over:
            break
    return seen
