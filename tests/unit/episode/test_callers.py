"""Threads of model calls: used again, never by two calls at once, and gone when nobody calls any more."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from machine import PATIENCE_S

from harness.episode.callers import Callers


def waiting() -> list[threading.Thread]:
    """The threads of calls that there are."""
    return [thread for thread in threading.enumerate() if thread.name == "model-call"]


def made(callers: Callers, call: Callable[[], None] = lambda: None) -> threading.Thread:
    """Have a call made; the thread that made it, once it is free again."""
    on: list[threading.Thread] = []
    over = threading.Event()

    def make() -> None:
        on.append(threading.current_thread())
        call()
        over.set()

    callers.call(make)
    assert over.wait(PATIENCE_S)
    free = threading.Event()
    while on[0] not in callers._idle:
        free.wait(0.001)
    return on[0]


def test_a_thread_that_has_made_its_call_makes_the_next_one() -> None:
    callers = Callers()
    assert made(callers) is made(callers) is made(callers)


def test_calls_at_once_have_a_thread_each() -> None:
    callers, everybody = Callers(), threading.Barrier(5)
    for _ in range(4):
        callers.call(lambda: everybody.wait(PATIENCE_S))  # type: ignore[arg-type]  # what it gives is left
    everybody.wait(PATIENCE_S)


def test_a_thread_that_nobody_needs_ends_and_the_next_call_has_another() -> None:
    callers = Callers(linger_s=0.01)
    first = made(callers)
    first.join(PATIENCE_S)
    assert not first.is_alive()
    second = made(callers)
    assert second is not first
    second.join(PATIENCE_S)


def test_a_call_that_comes_when_a_thread_is_about_to_end_is_made_by_it() -> None:
    callers = Callers(linger_s=0.01)
    caller = made(callers)
    with callers._lock:  # it cannot end while somebody takes it
        taken = callers._idle.pop()
    assert taken is caller
    assert not callers.may_end(taken)
    over = threading.Event()
    taken.calls.put(over.set)
    assert over.wait(PATIENCE_S)


def test_where_no_thread_can_be_had_the_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    with pytest.raises(RuntimeError):
        Callers().call(lambda: None)
