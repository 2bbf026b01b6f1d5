from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reporters._episode import tell
from harness.reporters._transcript import tell as tell_transcript
from harness.schema.observation import Channel
from harness.schema.receipt import Boundary, RedactedText
from harness.schema.run import AttemptRow, RunView
from harness.schema.transcript import Passage, Transcript, TranscriptTurn


def told(view: RunView, number: int, width: int = 80) -> str:
    return tell(view, number, width=width, color=False, recording="kept here", again="see it so")


@pytest.mark.parametrize("width", [40, 80, 140])
def test_every_episode_fits_its_width_and_names_verdict_and_steps(view: RunView, width: int) -> None:
    for number, receipt in enumerate(view.receipts, start=1):
        text = told(view, number, width)
        assert all(len(line) <= width or " " not in line.strip() for line in text.splitlines())
        assert " ".join(text.split()).startswith(f"{number}. {receipt.scenario}, {receipt.actor.ref}")
        assert all(f"{step.ordinal}. {step.kind or 'no kind'}" in text for step in receipt.steps)


def test_what_the_boundary_measured_is_told(view: RunView) -> None:
    one = view.receipts[0]

    def boundary(made: Boundary) -> str:
        changed = view.model_copy(update={"receipts": (one.model_copy(update={"boundary": made}),), "log": ()})
        return told(changed, 1).partition("Boundary\n")[2].partition("\n\n")[0].strip()

    assert boundary(Boundary(measured=False)) == "not measured"
    assert boundary(Boundary(measured=True)) == "measured before and after: nothing in the workspace changed"
    assert "✗ not allowed: project/fixture" in told(view, 7)


def test_an_episode_without_a_call_and_a_log_is_told(view: RunView) -> None:
    empty = view.receipts[0].model_copy(update={"steps": ()})
    text = told(view.model_copy(update={"receipts": (empty,), "log": ()}), 1)
    assert "Steps\n   no call\n" in text
    assert "Run log" not in text
    assert text.endswith("Recording\n   kept here\n   see it so")


def test_a_failed_attempt_is_told_with_its_error_and_status(view: RunView) -> None:
    failed = AttemptRow(
        operation="turn-1/main", attempt=2, status="not_sent", usage=None, seconds=1, error="timeout", http_status=503
    )
    logs = tuple(entry.model_copy(update={"attempts": (failed,)}) for entry in view.log)
    text = " ".join(told(view.model_copy(update={"log": logs}), 1).split())
    assert "attempt 2: not sent, 1.00 s, unknown tokens in, unknown tokens out, timeout, HTTP 503" in text


def test_what_was_left_out_of_what_was_shown_is_told(view: RunView) -> None:
    channels = {"result": Channel.counted(100_000, 10_000, "chars"), "context": Channel.counted(900, 900)}
    logs = tuple(entry.model_copy(update={"channels": channels, "spilled": 1}) for entry in view.log)
    text = told(view.model_copy(update={"log": logs}), 1)
    assert "results: shown 10,000 of 100,000 characters\n   1 result kept whole in the workspace\n" in text
    assert "requests:" not in text


@given(st.text(max_size=60))
def test_no_text_acts_on_the_terminal(view: RunView, text: str) -> None:
    said = Passage(speaker="model", about=text, text=text, shown=1, size=10_000, line=1)
    turn = TranscriptTurn(number=1, asked=(said,), said=(), answers=())
    shown = tell_transcript(Transcript(file=text, size=1, turns=(turn,)), width=80, color=False)
    one = view.receipts[1]
    finding = one.findings[0].model_copy(update={"check": "content", "got": RedactedText(text)})
    changed = view.model_copy(update={"receipts": (one.model_copy(update={"findings": (finding,)}),)})
    for printed in (shown, tell(changed, 1, width=80, color=False, recording=text, again=text)):
        assert all(letter.isprintable() or letter == "\n" for letter in printed)


def test_a_recording_that_cannot_be_told_says_why() -> None:
    shown = tell_transcript(Transcript(file="a", size=1234, problem="damaged"), width=80, color=False)
    assert shown == "Recording a, 1,234 bytes\n   damaged"


def test_colour_is_given_only_where_it_is_wanted(view: RunView) -> None:
    assert "\x1b[" in tell(view, 2, width=80, color=True, recording="", again=None)
    assert "\x1b[" not in told(view, 2)
