"""A stream that nobody wants any more is read on within bounds."""

from __future__ import annotations

import threading

import pytest

from harness.actors._drain import DRAIN_BYTES, DRAIN_S, Drain
from harness.clock import FakeClock


def never(_: bytes) -> bool:
    return False


def test_it_is_read_on_for_a_bounded_time() -> None:
    clock, stop = FakeClock(), threading.Event()
    drain = Drain(stop.is_set, never, clock.monotonic)
    drain.is_over(b"a")
    clock.advance(1000.0)
    assert not drain.cancelled()
    stop.set()
    assert not drain.cancelled()
    clock.advance(DRAIN_S - 0.1)
    assert not drain.cancelled()
    clock.advance(0.2)
    assert drain.cancelled()


def test_it_is_read_on_for_a_bounded_length() -> None:
    stop = threading.Event()
    drain = Drain(stop.is_set, never, FakeClock().monotonic)
    drain.is_over(b"a" * (DRAIN_BYTES + 1))
    assert not drain.cancelled()
    stop.set()
    assert not drain.cancelled()
    drain.is_over(b"a" * DRAIN_BYTES)
    assert not drain.cancelled()
    drain.is_over(b"a")
    assert drain.cancelled()


def test_a_stream_of_which_nothing_has_come_is_closed_at_once() -> None:
    stop = threading.Event()
    drain = Drain(stop.is_set, never, FakeClock().monotonic)
    assert not drain.cancelled()
    stop.set()
    assert drain.cancelled()


@pytest.mark.parametrize("says", [True, False])
def test_what_the_dialect_says_of_the_end_is_said_all_the_same(says: bool) -> None:
    seen: list[bytes] = []

    def is_over(piece: bytes) -> bool:
        seen.append(piece)
        return says

    drain = Drain(lambda: True, is_over, FakeClock().monotonic)
    assert drain.is_over(b"a") is says
    assert seen == [b"a"]
