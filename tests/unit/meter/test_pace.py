"""Calls of one provider, by many threads: a window, one gate after a refusal, and no rush when it opens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machine import PATIENCE_S

from harness.clock import FakeClock, SystemClock
from harness.meter import Pace, Visitor
from harness.meter import pace as pace_module
from harness.meter.pace import SPREAD_MAX_S, SPREAD_SHARE


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is moved by hand here, so nobody has to sit through it."""
    monkeypatch.setattr(pace_module, "NOTICE_S", 0.0)


def never() -> bool:
    return False


def at_pace(ceiling: int = 4, clock: FakeClock | None = None, jitters: Iterator[float] | None = None) -> Pace:
    drawn = jitters or cycle([0.0])
    return Pace(ceiling, (clock or FakeClock()).monotonic, lambda: next(drawn))


def passing(clock: FakeClock, step_s: float = 0.01) -> Callable[[], bool]:
    """Asked while somebody waits, it lets time go by."""

    def stopped() -> bool:
        clock.advance(step_s)
        return False

    return stopped


def test_no_more_are_out_at_once_than_may_be_whoever_asks() -> None:
    pace, lock = Pace(8, SystemClock().monotonic, lambda: 0.5), threading.Lock()
    for _ in range(2):
        pace.refuse(pace.begun(), "429", None)  # nobody is out, so one at once is left
    pace.answer()
    pace.answer()
    out, most, may_be = 0, 0, pace.at_once
    entered = threading.Semaphore(0)
    go_on = threading.Event()

    def call() -> None:
        nonlocal out, most
        assert pace.enter(patience_s=1.0, stopped=never) == "may_send"
        with lock:
            out += 1
            most = max(most, out)
        entered.release()
        go_on.wait(20)
        with lock:
            out -= 1
        pace.leave()

    threads = [threading.Thread(target=call) for _ in range(12)]
    for thread in threads:
        thread.start()
    for _ in range(may_be):
        assert entered.acquire(timeout=PATIENCE_S)
    assert not entered.acquire(timeout=0.1)  # the others wait
    go_on.set()
    for thread in threads:
        thread.join(20)
    assert (most, out, may_be) == (may_be, 0, 2)


def test_nobody_sends_before_a_retry_after_is_over_and_then_they_come_one_after_another() -> None:
    clock = FakeClock()
    pace = at_pace(8, clock, iter([0.0, 0.5, 1.0]))
    pace.refuse(pace.begun(), "429", 4.0)
    assert pace.closed_s == 4.0
    came = []
    for _ in range(3):
        clock.advance(-clock.monotonic())  # all of them came at the same moment
        assert pace.enter(patience_s=60.0, stopped=passing(clock)) == "may_send"
        came.append(clock.monotonic())
        pace.leave()
    assert came == [pytest.approx(4.0, abs=0.02), pytest.approx(4.5, abs=0.02), pytest.approx(5.0, abs=0.02)]
    assert pace.closed_s == 0.0


@given(wait=st.floats(0.01, 1000), jitter=st.floats(0, 1))
def test_who_waited_comes_neither_early_nor_late(wait: float, jitter: float) -> None:
    clock = FakeClock()
    pace = at_pace(2, clock, cycle([jitter]))
    pace.refuse(pace.begun(), "429", wait)
    assert pace.enter(patience_s=wait, stopped=passing(clock, wait / 4)) == "may_send"
    assert wait <= clock.monotonic() <= (wait + min(SPREAD_MAX_S, wait * SPREAD_SHARE)) + wait / 2


def test_a_gate_that_is_closed_for_longer_than_a_call_can_wait_is_told_at_once() -> None:
    clock = FakeClock()
    pace = at_pace(clock=clock)
    pace.refuse(pace.begun(), "429", 3600.0)
    assert pace.enter(patience_s=60.0, stopped=never) == "closed"
    assert clock.monotonic() == 0.0
    clock.advance(3541.0)
    assert pace.enter(patience_s=60.0, stopped=passing(clock, 10.0)) == "may_send"


def test_a_shorter_wait_never_opens_a_gate_early() -> None:
    pace = at_pace()
    pace.refuse(pace.begun(), "429", 10.0)
    pace.refuse(pace.begun(), "429", 1.0)
    pace.refuse(pace.begun(), "529", None)
    assert pace.closed_s == 10.0


def test_who_is_not_wanted_any_more_stops_waiting() -> None:
    pace = at_pace(1)
    assert pace.enter(patience_s=1.0, stopped=never) == "may_send"
    asked = iter([False, True])
    assert pace.enter(patience_s=1.0, stopped=lambda: next(asked)) == "stopped"
    pace.leave()
    assert pace.enter(patience_s=1.0, stopped=never) == "may_send"


def test_a_refused_wave_halves_what_was_out_and_is_counted() -> None:
    pace = at_pace(8)
    for _ in range(6):
        pace.enter(patience_s=1.0, stopped=never)
    begun = pace.begun()
    for _ in range(6):
        pace.refuse(begun, "429", None)
        pace.leave()
    assert (pace.at_once, pace.least, pace.ceiling, pace.refused, pace.word) == (3, 3, 8, 6, "429")
    pace.answer()
    pace.answer(left=1)
    assert (pace.at_once, pace.least) == (1, 1)


def test_a_visitor_is_in_once_and_leaves_once() -> None:
    pace = at_pace(1)
    one, other = Visitor(pace), Visitor(pace)
    assert one.enter(patience_s=1.0, stopped=never) == "may_send"
    assert one.enter(patience_s=1.0, stopped=never) == "may_send"
    asked = iter([False, True])
    assert other.enter(patience_s=1.0, stopped=lambda: next(asked)) == "stopped"
    other.leave()  # it never was in
    one.leave()
    one.leave()
    assert other.enter(patience_s=1.0, stopped=never) == "may_send"
    asked = iter([False, True])
    assert one.enter(patience_s=1.0, stopped=lambda: next(asked)) == "stopped"
