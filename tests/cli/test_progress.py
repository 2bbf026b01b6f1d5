from __future__ import annotations

import io
import sys
import threading
from typing import cast

import pytest

from harness.cli import progress as subject
from harness.cli.progress import progress
from harness.schema.run import EpisodeResult

RESULT = cast("EpisodeResult", None)


def told_lines(monkeypatch: pytest.MonkeyPatch, expected: int) -> tuple[list[str], threading.Event]:
    """What is said from here on, and an event that is set once so many lines were."""
    told: list[str] = []
    enough = threading.Event()

    def note(text: str) -> None:
        told.append(text)
        if len(told) >= expected:
            enough.set()

    monkeypatch.setattr(subject, "note", note)
    return told, enough


def test_without_a_terminal_a_long_run_says_now_and_then_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    told, enough = told_lines(monkeypatch, 2)
    monkeypatch.setattr(subject, "EVERY_S", 0.001)
    with progress(7) as advance:
        advance(RESULT)
        for _ in range(2):  # a line that was begun before may come once more
            enough.clear()
            assert enough.wait(10)
    assert told[-1].startswith("harness: 1 of 7 episodes finished after ")
    assert [thread.name for thread in threading.enumerate() if thread.name == "progress"] == []


def test_where_nobody_knows_how_many_there_are_only_the_finished_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told, enough = told_lines(monkeypatch, 1)
    monkeypatch.setattr(subject, "EVERY_S", 0.001)
    with progress(None):
        assert enough.wait(10)
    assert told[0].startswith("harness: 0 episodes finished after ")


@pytest.mark.parametrize("hidden", [True, False])
def test_a_short_run_and_a_hidden_one_say_nothing(
    hidden: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told, _ = told_lines(monkeypatch, 1)
    with progress(3, hidden=hidden) as advance:
        advance(RESULT)
    assert told == []
    assert capsys.readouterr().err == ""


def test_on_a_terminal_one_bar_counts_and_gives_way_to_what_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress(7) as advance:
        advance.finished("pack/a")
        with advance.aside():
            shown = terminal.getvalue()
        advance.finished("pack/b")
    assert "1/7" in shown
    assert shown.endswith("\x1b[2K")  # the line of the bar is empty when something else is printed
    assert "2/7" in terminal.getvalue()[len(shown) :]
