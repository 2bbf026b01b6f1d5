"""Any history: streaks are a fold, ids never matter, and what moves is never called stuck."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from harness.detectors import Streaks, alike, error_digest, is_looping, observe, streaks, stuck
from harness.schema.detectors import CallMarks, DetectorSpec
from harness.schema.record import CallResulted, InputDelivered, Payload, TurnCommitted, TurnOpened
from harness.schema.tool import ResultCode

SPEC = DetectorSpec()
#: A few names only, so that histories repeat themselves.
FEW = st.sampled_from(("a", "b"))
PROSE: st.SearchStrategy[Literal["new", "alike"] | None] = st.sampled_from((None, "new", "alike"))
CODES: st.SearchStrategy[ResultCode] = st.sampled_from(
    ("succeeded", "parse_error", "denied_policy", "error_recoverable", "timeout", "skipped_due_to_stop")
)


@st.composite
def results(draw: st.DrawFn) -> CallResulted:
    """One answer, with what answers of its code leave behind."""
    code = draw(CODES)
    typed = code in {"parse_error", "denied_policy"} or (code == "error_recoverable" and draw(st.booleans()))
    marks = CallMarks(
        action=draw(FEW),
        repeats=draw(FEW) if typed else None,
        error=draw(FEW) if code == "error_recoverable" and not typed else None,
    )
    kept = None if code == "skipped_due_to_stop" else marks
    call_id = draw(st.text(max_size=3))
    return CallResulted(turn=1, call=1, call_id=call_id, tool="t", code=code, executed=True, marks=kept)


@st.composite
def histories(draw: st.DrawFn) -> list[Payload]:
    """Turns with their calls, and messages from outside between them."""
    found: list[Payload] = []
    for _ in range(draw(st.integers(0, 8))):
        if draw(st.integers(0, 5)) == 0:
            found.append(InputDelivered(input="steering", digest="d"))
        calls = draw(st.lists(results(), max_size=4))
        prose = draw(PROSE)
        ended = TurnCommitted(turn=1, finish="stop", said_text=True, calls=len(calls), prose=prose)
        found += [TurnOpened(turn=1), *calls, ended]
    return found


@given(histories(), st.data())
def test_a_fold_from_the_start_is_a_fold_of_what_came_since(history: list[Payload], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(history)))
    known = streaks(history[:cut])
    for payload in history[cut:]:
        known = observe(known, payload)
    assert known == streaks(history)


@given(histories())
def test_only_what_came_since_the_last_message_counts(history: list[Payload]) -> None:
    message = max((at for at, one in enumerate(history) if isinstance(one, InputDelivered)), default=-1)
    assert streaks(history) == streaks(history[message + 1 :])


@given(histories(), st.data())
def test_the_ids_of_calls_never_matter(history: list[Payload], data: st.DataObject) -> None:
    def renamed(payload: Payload) -> Payload:
        if not isinstance(payload, CallResulted):
            return payload
        return replace(payload, call_id=data.draw(st.text(max_size=3)))

    one, other = streaks(history), streaks(map(renamed, history))
    assert (is_looping(one, SPEC), stuck(one, SPEC)) == (is_looping(other, SPEC), stuck(other, SPEC))


@given(histories())
def test_a_result_that_moves_is_progress(history: list[Payload]) -> None:
    known = Streaks()
    for at, payload in enumerate(history):
        moved = payload
        if isinstance(payload, CallResulted) and payload.marks is not None:
            moved = replace(payload, marks=replace(payload.marks, action=str(at)))
        known = observe(known, moved)
        assert stuck(known, SPEC) != "same_action"


@given(histories())
def test_a_success_ends_every_streak_of_errors(history: list[Payload]) -> None:
    good = CallResulted(
        turn=1, call=1, call_id="x", tool="t", code="succeeded", executed=True, marks=CallMarks(action="good")
    )
    ended = TurnCommitted(turn=1, finish="stop", said_text=False, calls=1)
    known = streaks([*history, TurnOpened(turn=1), good, ended])
    assert (known.repeats, known.errors, known.malformed) == (0, 0, 0)


@given(histories(), st.lists(st.sampled_from(("repetition", "same_action", "malformed", "similar_error", "long_text"))))
def test_a_detector_that_is_off_finds_nothing(history: list[Payload], off: list[str]) -> None:
    spec = DetectorSpec.model_validate(dict.fromkeys(off, False))
    known = streaks(history)
    assert stuck(known, spec) not in off
    if "repetition" in off:
        assert not is_looping(known, spec)


def common(left: str, right: str) -> int:
    """Length of the longest common subsequence, by the table of the textbook."""
    row = [0] * (len(right) + 1)
    for one in left:
        before = row
        row = [0]
        for at, other in enumerate(right):
            row.append(before[at] + 1 if one == other else max(row[at], before[at + 1]))
    return row[-1]


@given(st.text("ab\U0001f600", max_size=40), st.text("ab\U0001f600", max_size=40))
def test_texts_are_alike_where_their_longest_common_part_says_so(left: str, right: str) -> None:
    assert alike(left, right) == (200 * common(left, right) >= 97 * (len(left) + len(right)))
    assert alike(left, right) == alike(right, left)


@given(st.text("abc", min_size=60, max_size=120), st.integers(0, 119), st.text("abc", max_size=2))
def test_what_matching_blocks_call_alike_is_alike(text: str, at: int, put: str) -> None:
    changed = text[:at] + put + text[at + 1 :]
    if SequenceMatcher(None, text, changed, autojunk=False).ratio() >= 0.97:
        assert alike(text, changed)


@given(st.text(), st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_number_never_makes_an_error_another(text: str, one: int, other: int) -> None:
    assert error_digest(f"{text} item {one} x") == error_digest(f"{text} item {other} x")
