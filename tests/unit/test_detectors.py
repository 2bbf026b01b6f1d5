"""What counts as the same, and how a streak grows, breaks and starts again."""

from __future__ import annotations

import time
from typing import Literal

import pytest
from numbered import case

from harness.detectors import Streaks, alike, error_digest, is_long, is_looping, repetition_key, streaks, stuck
from harness.schema.base import JsonValue
from harness.schema.detectors import CallMarks, DetectorSpec
from harness.schema.record import CallResulted, InputDelivered, OpReceipt, Payload, TurnCommitted, TurnOpened
from harness.schema.tool import ResultCode

SPEC = DetectorSpec()
MESSAGE = InputDelivered(input="steering-1", digest="sha256:0")


def call(
    action: str, code: ResultCode = "succeeded", *, repeats: str | None = None, error: str | None = None
) -> CallResulted:
    marks = CallMarks(action=action, repeats=repeats, error=error)
    return CallResulted(turn=1, call=1, call_id="c", tool="t", code=code, executed=True, marks=marks)


def turn(*calls: CallResulted, prose: Literal["new", "alike"] | None = None) -> list[Payload]:
    ended = TurnCommitted(turn=1, finish="stop", said_text=True, calls=len(calls), prose=prose)
    return [TurnOpened(turn=1), *calls, ended]


def after(*turns: list[Payload]) -> Streaks:
    return streaks(payload for one in turns for payload in one)


def failed(error: str) -> CallResulted:
    return call(error, "error_recoverable", error=error)


def refused(key: str) -> CallResulted:
    return call(key, "denied_policy", repeats=key)


@case(126)
def test_a_message_from_outside_starts_every_streak_again() -> None:
    streaky = [*turn(refused("k"), call("a"), prose="alike")] * 2
    assert after(streaky, [MESSAGE]) == Streaks()
    assert stuck(after(turn(call("a")), turn(call("a")), turn(call("a"))), SPEC) == "same_action"
    assert stuck(after(turn(call("a")), turn(call("a")), [MESSAGE], turn(call("a"))), SPEC) is None


def test_a_nudge_of_the_loop_is_no_message_from_outside() -> None:
    nudge: list[Payload] = [InputDelivered(input="nudge.turn-1", digest="sha256:0")]
    assert stuck(after(turn(failed("e")), nudge, turn(failed("e"))), SPEC) == "similar_error"


@case(127)
def test_a_refused_claim_is_a_failing_call_that_has_no_row() -> None:
    def claimed(status: Literal["succeeded", "failed"], why: str | None) -> list[Payload]:
        opened, ended = turn()
        return [opened, OpReceipt(operation="turn-1/control", attempt=1, status=status, detail=why), ended]

    bad, other = claimed("failed", "unsupported_claim"), claimed("failed", "control_shape")
    assert stuck(after(bad, bad), SPEC) == "similar_error"
    assert stuck(after(bad, other, bad), SPEC) is None
    assert stuck(after(bad, turn(call("a")), bad), SPEC) is None
    assert after(bad, claimed("succeeded", None)) == after(bad, turn())


def test_an_error_of_another_kind_breaks_a_streak_of_similar_ones() -> None:
    assert stuck(after(turn(failed("e")), turn(failed("e"))), SPEC) == "similar_error"
    assert stuck(after(turn(failed("e")), turn(refused("k")), turn(failed("e"))), SPEC) is None
    assert stuck(after(turn(failed("e")), turn(failed("f")), turn(failed("e"))), SPEC) is None
    transient = call("x", "error_recoverable")
    assert stuck(after(turn(failed("e")), turn(transient), turn(failed("e"))), SPEC) == "similar_error"


def test_a_call_that_timed_out_counts_nowhere() -> None:
    slow = call("a", "timeout")
    known = after(turn(refused("k")), turn(slow), turn(refused("k")), turn(slow), turn(refused("k")))
    assert is_looping(known, SPEC)
    assert stuck(after(*[turn(slow)] * 9), SPEC) is None


def test_an_untyped_error_is_another_result() -> None:
    assert not is_looping(after(turn(refused("k")), turn(refused("k")), turn(failed("e")), turn(refused("k"))), SPEC)


def test_turns_without_a_call_change_no_streak_of_calls() -> None:
    known = after(turn(call("a")), turn(), turn(call("a")), turn(), turn(call("a")))
    assert stuck(known, SPEC) == "same_action"


def test_the_order_of_the_calls_of_a_turn_counts() -> None:
    left, right = turn(call("a"), call("b")), turn(call("b"), call("a"))
    assert stuck(after(left, right, left), SPEC) is None


def test_the_first_long_reply_after_a_message_is_the_first_of_a_streak() -> None:
    known = after(turn(prose="new"), turn(prose="alike"), [MESSAGE], turn(prose="alike"), turn(prose="alike"))
    assert (known.prose, stuck(known, SPEC)) == (2, None)


def test_calls_that_were_not_the_actors_own_leave_nothing() -> None:
    skipped = CallResulted(turn=1, call=2, call_id="d", tool="t", code="skipped_due_to_stop", executed=False)
    assert after(turn(call("a"), skipped)).action == after(turn(call("a"))).action


@pytest.mark.parametrize(
    "other",
    [
        {"tool": "write"},
        {"implementation": {"name": "toy", "version": "2"}},
        {"binding": "other"},
        {"arguments": {"cmd": "pwd"}},
        {"code": "stale"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_every_part_of_the_key_of_a_repetition_counts(other: dict[str, JsonValue]) -> None:
    parts: dict[str, JsonValue] = {
        "tool": "read",
        "implementation": {"name": "toy", "version": "1"},
        "binding": "g",
        "arguments": {"cmd": "ls"},
        "code": "busy",
    }

    def key(of: dict[str, JsonValue]) -> str:
        return repetition_key(
            tool=str(of["tool"]),
            implementation=of["implementation"],
            binding=of["binding"],
            arguments=of["arguments"],
            code=str(of["code"]),
        )

    assert key(parts) == key(dict(reversed(parts.items())))
    assert key(parts) != key({**parts, **other})


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("no task 17 here", "no task 4 here", True),
        ("no task todo_ab12 here", "no task todo_cd34 here", True),
        ("at 5f3a1c9e-0b1d", "at 77aa77aa-1111", True),
        ("object deadbeef is gone", "object cafefeed is gone", True),
        ("spread  over\n lines", "spread over lines", True),
        ("no task here", "no file here", False),
        ("facade", "decade", False),
        ("x" * 8_000 + "a", "x" * 8_000 + "b", True),
    ],
)
def test_ids_and_numbers_are_no_part_of_an_error(left: str, right: str, same: bool) -> None:
    assert (error_digest(left) == error_digest(right)) is same


@case(124)
@pytest.mark.parametrize(
    "text",
    ["Rate limit", "status: 429", "HTTP/1.1 503", "Timed out", "timeout", "service unavailable", "Connection reset"],
)
def test_an_error_that_waiting_may_cure_is_like_no_other(text: str) -> None:
    assert error_digest(f"error: {text}.") is None
    assert error_digest("error: item 503 is unknown") is not None


@pytest.mark.parametrize(("length", "long"), [(399, False), (400, True)])
def test_prose_is_compared_from_four_hundred_characters_on(length: int, long: bool) -> None:
    assert is_long("x" * length) is long


def test_texts_are_alike_from_exactly_ninety_seven_percent_on() -> None:
    same = "".join(chr(0x4E00 + at) for at in range(970))
    assert alike(same + "a" * 30, same + "b" * 30)
    assert not alike(same[1:] + "a" * 31, same[1:] + "b" * 31)
    assert alike("b" * 30 + same, same + "a" * 30)


def test_what_stands_behind_the_first_eight_thousand_characters_does_not_count() -> None:
    assert alike("ab" * 4_000 + "c" * 9_000, "ab" * 4_000 + "d" * 900)


@pytest.mark.parametrize("characters", [1, 2, 100, 8_000])
def test_no_pair_of_texts_takes_long_to_compare(characters: int) -> None:
    left, right = ("".join(chr(0x4E00 + (at + shift) % characters) for at in range(8_000)) for shift in (0, 1))
    began = time.process_time()
    alike(left, right)
    assert time.process_time() - began < 1.0
