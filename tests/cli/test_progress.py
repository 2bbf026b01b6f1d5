from __future__ import annotations

import io
import re
import sys
import threading
from collections.abc import Callable

import pytest

from harness.cli import progress as subject
from harness.cli.progress import progress
from harness.schema.run import EpisodeResult
from harness.schema.verdict import Verdict

Result = Callable[[Verdict], EpisodeResult]


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


def said_since(enough: threading.Event) -> None:
    """Wait for a line that was begun after this."""
    for _ in range(2):  # one that was begun before may come once more
        enough.clear()
        assert enough.wait(10)


def test_without_a_terminal_a_long_run_says_now_and_then_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, result: Result
) -> None:
    told, enough = told_lines(monkeypatch, 2)
    monkeypatch.setattr(subject, "EVERY_S", 0.001)
    with progress(7, verdicts=True) as advance:
        advance(result("fail"))
        advance.again(result("not_judged"))
        said_since(enough)
    assert re.fullmatch(
        r"harness: 1 of 7 episodes finished after \d+ s: 1 failed, 1 tried again; about \d+ s left", told[-1]
    )
    assert [thread.name for thread in threading.enumerate() if thread.name == "progress"] == []


def test_what_may_end_early_is_told_as_the_most_and_what_is_not_needed_any_more_is_taken_off(
    monkeypatch: pytest.MonkeyPatch, result: Result
) -> None:
    told, enough = told_lines(monkeypatch, 2)
    monkeypatch.setattr(subject, "EVERY_S", 0.001)
    with progress(7, at_most=True) as advance:
        advance(result("pass"))
        advance.fewer(2)
        said_since(enough)
    assert re.fullmatch(r"harness: 1 of at most 5 episodes finished after \d+ s; at most about \d+ s left", told[-1])


def test_where_nobody_knows_how_many_there_are_only_the_finished_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told, enough = told_lines(monkeypatch, 1)
    monkeypatch.setattr(subject, "EVERY_S", 0.001)
    with progress(None):
        assert enough.wait(10)
    assert told[0].startswith("harness: 0 episodes finished after ")


def test_verdicts_that_are_no_news_are_not_told(monkeypatch: pytest.MonkeyPatch, result: Result) -> None:
    told, enough = told_lines(monkeypatch, 2)
    monkeypatch.setattr(subject, "EVERY_S", 0.001)
    with progress(7) as advance:
        advance(result("fail"))
        said_since(enough)
    assert re.fullmatch(r"harness: 1 of 7 episodes finished after \d+ s; about \d+ s left", told[-1])


def test_what_else_is_to_be_said_is_told_each_time(monkeypatch: pytest.MonkeyPatch, result: Result) -> None:
    told, enough = told_lines(monkeypatch, 2)
    monkeypatch.setattr(subject, "EVERY_S", 0.001)
    slow = "provider openai: 4 of 8 at once after 429"
    with progress(7, verdicts=True, beside=lambda: slow) as advance:
        advance(result("fail"))
        said_since(enough)
    assert f"s: 1 failed, {slow}; about" in told[-1]


def test_what_hides_its_bar_still_tells_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    told, enough = told_lines(monkeypatch, 1)
    monkeypatch.setattr(subject, "EVERY_S", 0.001)
    with progress(7, hidden=True):
        assert enough.wait(10)
    assert told[0].startswith("harness: 0 of 7 episodes finished after ")


@pytest.mark.parametrize("hidden", [True, False])
def test_a_short_run_and_a_hidden_one_say_nothing(
    hidden: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], result: Result
) -> None:
    told, _ = told_lines(monkeypatch, 1)
    with progress(3, hidden=hidden) as advance:
        advance(result("pass"))
        advance.again(result("pass"))
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


@pytest.mark.parametrize("at_most", [False, True])
@pytest.mark.parametrize("columns", [40, 80, 140])
def test_a_bar_is_one_line_whatever_the_width_and_tells_how_it_stands(
    columns: int, at_most: bool, monkeypatch: pytest.MonkeyPatch, result: Result
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    with progress(1235, verdicts=True, at_most=at_most) as advance:
        for verdict in ("pass", "fail", "not_judged", "pending"):
            advance(result(verdict))
        advance.again(result("not_judged"))
        advance.fewer(1)
        with advance.aside():
            shown = terminal.getvalue()
    (*_, last) = [line for line in re.split(r"\r|\n|\x1b\[[0-9;?]*[A-Za-z]", shown) if "/1234" in line]
    assert len(last) <= columns
    assert "4/1234" in last
    if columns > 40:
        assert "1 passed, 1 failed, 1 not" in last
        assert ("left at most" if at_most else "left") in last
    assert ("pack/a" in last) == (columns == 140)
