"""One thread looks after everything that waits, and ends when there is nothing."""

from __future__ import annotations

import threading
import time

import pytest

from harness.watching import POLL_S, Look, Watcher

PATIENCE_S = 30.0


def shows(event: threading.Event) -> Look:
    """A look that sets the event."""

    def look() -> float:
        event.set()
        return POLL_S

    return look


def threads() -> int:
    return sum(thread.name == "watcher" for thread in threading.enumerate())


def test_it_is_looked_after_again_and_again_until_it_ends() -> None:
    watcher, seen = Watcher(), []
    thrice = threading.Event()

    def look() -> float:
        seen.append(time.monotonic())
        if len(seen) == 3:
            thrice.set()
        return POLL_S

    watched = watcher.watch(look)
    assert thrice.wait(PATIENCE_S)
    watched.end()
    looks = len(seen)
    assert watched.look() == POLL_S
    assert len(seen) == looks
    assert watched.has_ended


def test_one_thread_looks_after_all_of_them() -> None:
    before, watcher = threads(), Watcher()
    looked = [threading.Event() for _ in range(20)]

    watched = [watcher.watch(shows(event)) for event in looked]
    assert all(event.wait(PATIENCE_S) for event in looked)
    assert threads() == before + 1
    for one in watched:
        one.end()


def test_the_thread_goes_when_there_is_nothing_and_comes_again() -> None:
    watcher = Watcher(linger_s=0.0)
    for _ in range(3):
        looked = threading.Event()
        watched = watcher.watch(shows(looked))
        assert looked.wait(PATIENCE_S)
        watched.end()
        end = time.monotonic() + PATIENCE_S
        while watcher._runs and time.monotonic() < end:
            pass
        assert not watcher._runs


def test_who_wants_to_be_looked_at_sooner_wakes_a_thread_that_sleeps() -> None:
    watcher = Watcher(linger_s=PATIENCE_S)
    watcher.watch(shows(threading.Event())).end()
    while watcher._sleeps_s < PATIENCE_S:
        pass
    looked = threading.Event()
    began = time.monotonic()
    watched = watcher.watch(shows(looked))
    assert looked.wait(PATIENCE_S / 2)
    assert time.monotonic() - began < PATIENCE_S / 2
    watched.end()


def test_ending_waits_for_a_look_under_way() -> None:
    watcher = Watcher()
    looking, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def look() -> float:
        looking.set()
        go_on.wait(PATIENCE_S)
        return POLL_S

    watched = watcher.watch(look)
    assert looking.wait(PATIENCE_S)

    def end() -> None:
        watched.end()
        ended.set()

    ender = threading.Thread(target=end)
    ender.start()
    assert not ended.is_set()
    go_on.set()
    ender.join(PATIENCE_S)
    assert ended.is_set()


def test_where_no_thread_can_be_had_nothing_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    watcher = Watcher()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError):
            watcher.watch(lambda: POLL_S)
    looked = threading.Event()
    watched = watcher.watch(shows(looked))
    assert looked.wait(PATIENCE_S)
    watched.end()


def test_a_look_that_raises_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    watcher, raised = Watcher(), threading.Event()

    def look() -> float:
        raised.set()
        raise LookupError("a secret")

    broken = watcher.watch(look)
    assert raised.wait(PATIENCE_S)
    looked = threading.Event()
    watched = watcher.watch(shows(looked))
    assert looked.wait(PATIENCE_S)
    assert broken.has_ended
    assert caplog.messages == ["what was looked after is not any more: it raised LookupError"]
    watched.end()
