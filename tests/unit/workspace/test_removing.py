"""What is removed beside the next episode is removed once, by somebody, before the end."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.workspace import Removals, reserve, sweep


def test_what_was_handed_over_is_done_on_another_thread_and_waited_for() -> None:
    removals, go, done = Removals(), threading.Event(), list[str]()

    def remove() -> None:
        go.wait()
        done.append(threading.current_thread().name)

    removals.hand_over(remove)
    assert done == []
    go.set()
    removals.close()
    removals.close()
    assert [name.startswith("removal") for name in done] == [True]


def test_one_more_than_may_wait_is_done_by_its_owner_and_room_comes_back() -> None:
    removals, go, done = Removals(waiting=1), threading.Event(), list[str]()
    begun, names = threading.Event(), threading.current_thread().name

    def slow() -> None:
        begun.set()
        go.wait()
        done.append("slow")

    removals.hand_over(slow)
    begun.wait()
    removals.hand_over(lambda: done.append(threading.current_thread().name))
    assert done == [names]
    go.set()
    removals.close()
    assert done == [names, "slow"]
    again = Removals(waiting=1)
    for _ in range(3):
        finished = threading.Event()
        again.hand_over(finished.set)
        assert finished.wait(10)
    again.close()


def test_what_comes_after_the_end_is_done_at_once() -> None:
    removals, done = Removals(), list[int]()
    removals.close()
    removals.hand_over(lambda: done.append(1))
    assert done == [1]


def test_without_a_thread_it_is_done_once_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    removals, done = Removals(), list[int]()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", full)
        removals.hand_over(lambda: done.append(1))
    removals.hand_over(lambda: done.append(2))  # a thread now, which finds the first one in its queue
    with contextlib.suppress(RuntimeError):  # a thread that was never started cannot be joined
        removals.close()
    assert sorted(done) == [1, 2]


def test_a_workspace_that_waits_for_its_removal_still_has_an_owner(tmp_path: Path) -> None:
    waiting: list[Callable[[], None]] = []
    with reserve(roots=("project",), base=tmp_path, later=waiting.append) as workspace:
        (workspace.cwd / "file").write_text("x")
    assert workspace.root.is_dir()
    assert sweep(tmp_path) == 0
    waiting[0]()
    assert list(tmp_path.iterdir()) == []


def test_a_kept_workspace_is_not_handed_over(tmp_path: Path) -> None:
    waiting: list[Callable[[], None]] = []
    with reserve(roots=("project",), base=tmp_path, keep=True, later=waiting.append) as workspace:
        pass
    assert (waiting, workspace.root.is_dir()) == ([], True)
