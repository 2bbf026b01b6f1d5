from __future__ import annotations

import re

import pytest

from harness.reporters.terminal import build, summary
from harness.schema.receipt import RedactedText
from harness.schema.run import RunView


def joined(text: str) -> str:
    """The text without what folding put in."""
    return re.sub(r"[\s│─┼┃╇━]+", "", text)


@pytest.mark.parametrize("width", [40, 80, 109, 110, 140])
def test_evidence_is_whole_and_no_line_too_long_at_any_width(view: RunView, width: int) -> None:
    text = summary(view, width=width, color=False, folder="x" * 200)
    copied = [line for line in text.splitlines() if "x" * 200 in line or line.startswith("      harness run")]
    assert len(copied) == 2
    assert all(len(line) <= width or " " not in line.strip() for line in text.splitlines() if line not in copied)
    assert "…" not in text
    for receipt in view.receipts:
        for finding in receipt.findings:
            told = (finding.pointer, finding.expected, finding.got)
            assert all(joined(fact or "") in joined(text) for fact in told)


@pytest.mark.parametrize("width", [40, 80, 109, 140, 200])
def test_every_identifier_of_an_episode_is_told_whole(view: RunView, width: int) -> None:
    passed = view.model_copy(update={"receipts": (view.receipts[0], view.receipts[5])})
    for shown in (view, passed):
        text = joined(summary(shown, width=width, color=False))
        for receipt in shown.receipts:
            assert receipt.scenario in text
            assert receipt.actor.ref in text
            assert receipt.verdict == "pass" or receipt.outcome.name in text
            assert (receipt.failure_code or "") in text


def test_counts_come_first_then_episodes_then_failures_then_where_to_look(view: RunView) -> None:
    text = summary(view, width=100, color=False)
    assert text.startswith("2 of 8 passed, 4 failed, 1 not judged, 1 not run\n")
    places = [
        text.index(word) for word in ("quota_should_run", "\nFailed\n", "\nNot judged", "\nNot run\n", "\nLook next\n")
    ]
    assert places == sorted(places)


def test_a_failure_tells_code_cause_place_expected_and_got(view: RunView) -> None:
    text = summary(view, width=100, color=False)
    block = text[text.index("3. loopx/capability-repair, ark/doubao-seed-2") :]
    assert block.splitlines()[1:5] == [
        "   quota_reentry_failed (failed/scenario_violation, cause: control_plane)",
        "   step 4, quota_reentry: the answer at /selected_todo/todo_id",
        '      expected "todo_portfolio_private_read"',
        "      got      text of 36 characters, sha256:1a1309bdb37e",
    ]
    assert "   not allowed: project/fixture/sha256:8197a13302fa (depth 3) modified by tool" in text


def test_an_episode_that_was_not_judged_tells_why(view: RunView) -> None:
    text = summary(view, width=100, color=False)
    assert (
        "   model_error (failed/model_error, overloaded, cause: provider)\n   the provider was overloaded (HTTP 529)"
    ) in text
    assert "not judged  ark/doubao-seed-2, trial 2, 3.25 s\n" in text
    assert "            model_error (overloaded)\n" in text


def test_the_table_tells_code_and_steps_under_the_scenario(view: RunView) -> None:
    lines = summary(view, width=140, color=False).splitlines()
    assert lines[5].split() == ["loopx/capability-repair"]
    second = next(line for line in lines if line.startswith("2."))
    assert second.split() == [
        "2.",
        "failed",
        "script:quota_reentry_before_callsite",
        "quota_reentry_before_callsite",
        "quota_should_run",
        "→",
        "quota_reentry",
        "✗",
        "1.25",
    ]


def test_only_files_that_are_there_are_named(view: RunView) -> None:
    told = summary(view, width=100, color=False, folder="reports/one", written=("junit.xml",))
    assert "\nLook next in reports/one\n" in told
    assert [name for name in ("report.html", "junit.xml", "summary.txt") if name in told] == ["junit.xml"]
    assert "   receipts.jsonl  " in told
    bare = summary(view, width=100, color=False)
    assert "\nLook next\n" in bare
    assert "report.html" not in bare


def test_the_names_of_further_files_are_folded_under_each_other(view: RunView) -> None:
    others = [f"{letter * 12}.txt" for letter in "abcdefg"]
    lines = summary(view, width=80, color=False, written=others).splitlines()
    first = next(at for at, line in enumerate(lines) if "also there" in line)
    assert [len(line) - len(line.lstrip()) for line in lines[first : first + 3]] == [3, 19, 19]


def test_many_episodes_that_ended_alike_are_told_together(view: RunView) -> None:
    passed, failed = view.receipts[:2]
    many = [one.model_copy(update={"trial": trial}) for trial in range(1, 41) for one in (passed, failed)]
    many.append(view.receipts[5])
    plan = tuple(view.manifest.plan[0].model_copy(update={"trial": trial}) for trial in range(1, 200))
    manifest = view.manifest.model_copy(update={"plan": plan})
    text = summary(view.model_copy(update={"receipts": tuple(many), "manifest": manifest}), width=80, color=False)
    assert "\n40 x  passed  script, " in text
    assert "\n40 x  failed  script:quota_reentry_before_callsite, " in text
    assert "(the first of 40 that ended so)" in text.replace("\n", " ")
    assert re.search(r"\n40 x  passed  script, [0-9.]+ s each\n", text)
    assert re.search(r"\n 1 x  [a-z ]+  [a-z0-9/-]+, [0-9.]+ s\n", text), "one is not each"
    assert text.count("a call that the rules refuse here") == 1
    assert "\n   and 99 more\n" in text
    assert len(text.splitlines()) < 100


def test_a_few_that_failed_alike_are_listed_each_and_their_evidence_is_told_once(view: RunView) -> None:
    failed = [view.receipts[1].model_copy(update={"trial": trial}) for trial in (1, 2, 3)]
    text = summary(view.model_copy(update={"receipts": tuple(failed)}), width=100, color=False)
    assert [line[:3] for line in text.splitlines() if "  failed  script:" in line] == ["1. ", "2. ", "3. "]
    assert text.count("a call that the rules refuse here") == text.count("(the first of 3 that ended so)") == 1


def test_of_very_many_endings_each_verdict_of_an_actor_is_a_row_with_its_commonest_codes(view: RunView) -> None:
    failed = view.receipts[1]
    codes = [f"code_{number:03}" for number in range(101) for _ in range(1 + (number == 7))]
    changes = ({"trial": trial, "failure_code": code} for trial, code in enumerate(codes, 1))
    many = tuple(failed.model_copy(update=change) for change in changes)
    text = summary(view.model_copy(update={"receipts": many}), width=80, color=False)
    row = "102 x  failed  script:quota_reentry_before_callsite, "
    place = text.index(row)
    assert [line.strip() for line in text[place:].splitlines()[1:5]] == [
        "2 x code_007",
        "1 x code_000",
        "1 x code_001",
        "98 x others",
    ]
    assert "\n   and 81 rarer endings: see report.html or junit.xml\n" in text
    assert "code_007 (" in text
    assert "code_050" not in text


def test_of_very_many_rows_those_that_passed_are_left_out_first(view: RunView) -> None:
    passed, failed = view.receipts[:2]
    names = [f"many/case-{number:03}" for number in range(201)]
    many = tuple(one.model_copy(update={"scenario": name}) for name in names for one in (passed, failed))
    text = summary(view.model_copy(update={"receipts": many}), width=80, color=False)
    assert "\n   and 202 rows more, 201 of them of trials that passed\n" in text
    assert text.count(" x  failed") == 200
    assert " x  passed" not in text


def test_the_first_scripted_failure_can_be_typed_again(view: RunView) -> None:
    line = "harness run loopx/capability-repair --actor script:quota_reentry_before_callsite --keep-workspace"
    assert line in summary(view, width=140, color=False)
    live = view.model_copy(update={"receipts": view.receipts[2:4]})
    assert "harness run" not in summary(live, width=140, color=False)


def test_colour_is_only_there_when_asked_for_whatever_the_environment_says(
    view: RunView, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "20", "TERM": "dumb", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    plain = summary(view, width=100, color=False)
    colored = summary(view, width=100, color=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31mfailed" in colored
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", colored).splitlines()] == plain.splitlines()


def test_a_run_in_which_everything_passed_is_short(view: RunView) -> None:
    manifest = view.manifest.model_copy(update={"plan": view.manifest.plan[:1], "state": "complete"})
    passed = view.model_copy(update={"receipts": view.receipts[:1], "manifest": manifest})
    text = summary(passed, width=80, color=False)
    assert text.startswith("1 of 1 passed\n")
    assert "Failed" not in text
    assert "Not " not in text
    assert "interrupted" not in text


def test_a_run_without_a_receipt_can_be_told(view: RunView) -> None:
    nothing = view.model_copy(update={"receipts": (), "log": ()})
    assert summary(nothing, width=80, color=False).startswith("0 of 8 passed, 8 not run\n")


def test_pending_episodes_have_a_part_of_their_own(view: RunView) -> None:
    waiting = view.receipts[0].model_copy(update={"verdict": "pending"})
    text = summary(view.model_copy(update={"receipts": (waiting,)}), width=80, color=False)
    assert "\nPending\n1. loopx/capability-repair, script\n   no code (completed/scenario_satisfied)\n" in text


def test_texts_cannot_act_on_the_terminal_or_be_read_as_markup(view: RunView) -> None:
    finding = (
        view.receipts[2].findings[0].model_copy(update={"got": RedactedText("[red]x[/red] \x1b]0;owned\x07 :bomb:")})
    )
    hostile = view.receipts[2].model_copy(update={"findings": (finding,)})
    text = summary(view.model_copy(update={"receipts": (hostile,)}), width=120, color=False)
    assert "got      [red]x[/red] \ufffd]0;owned\ufffd :bomb:" in text
    assert "\x1b" not in text


def test_the_file_is_the_summary_at_a_hundred_columns(view: RunView) -> None:
    reporter = build()
    assert reporter.render(view) == summary(view, width=100, color=False) + "\n"
    assert (reporter.name, reporter.filename) == ("terminal", "summary.txt")
