from __future__ import annotations

import io
import sys

import pytest

from harness.cli.output import folded, harmless, note, table

LONG = "the agent proves it once at the real target and re-enters quota in the same heartbeat"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    """From here on standard output is a terminal."""
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", str(columns))


def test_the_last_column_folds_under_its_heading_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch, 40)
    assert table(("scenario", "asks"), [("pack/a", LONG), ("pack/b", "")]).splitlines() == [
        "scenario  asks",
        "pack/a    the agent proves it once at",
        "          the real target and re-enters",
        "          quota in the same heartbeat",
        "pack/b",
    ]


def test_a_last_column_that_has_no_room_stands_below_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("12/12", "75-100 %", "openai-compatible/large"), ("9/12", "46-92 %", "small")]
    terminal(monkeypatch, 40)
    assert table(("passed", "between", "actor"), rows).splitlines() == [
        "passed  between",
        "  actor",
        "12/12   75-100 %",
        "  openai-compatible/large",
        "9/12    46-92 %",
        "  small",
    ]
    terminal(monkeypatch, 41)
    assert table(("passed", "between", "actor"), rows).splitlines()[1] == "12/12   75-100 %  openai-compatible/large"


def test_nothing_folds_where_no_person_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert table(("scenario", "asks"), [("pack/a", LONG)]).splitlines()[1] == f"pack/a    {LONG}"
    assert folded("a\nb", "  ") == "  a\n  b"
    monkeypatch.setattr(sys, "stdout", None)
    assert folded(LONG, "  ") == f"  {LONG}"


def test_words_that_are_copied_are_never_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch, 40)
    pointer = "/interaction_contract/cli_channel/next_cli_actions-of-it/0"
    assert folded(f"the answer at {pointer}", "    ").splitlines() == ["    the answer at", f"    {pointer}"]


def test_a_terminal_that_is_too_narrow_is_told_in_longer_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch, 10)
    assert folded("one two three four five six", "        ").splitlines() == [
        "        one two three",
        "        four five six",
    ]


def test_what_acts_on_a_terminal_is_shown_as_a_sign_and_does_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    odd = "a\x1b[2Jb\x07\x9bc"
    assert harmless(f"{odd}\né") == "a\ufffd[2Jb\ufffd\ufffdc\né"
    assert "\x1b" not in table(("name", "asks"), [(odd, odd)])
    assert "\x1b" not in folded(odd)
    note(odd)
    assert capsys.readouterr().err == "a\ufffd[2Jb\ufffd\ufffdc\n"
