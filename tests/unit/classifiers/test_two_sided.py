"""What was sent, and what the control plane's log tells."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidenced import evidence

from harness.schema.base import JsonValue
from harness.schema.classifier import Evidence, ReceivedCall
from harness.schema.scenario import Scenario

from .conftest import Make


def sent(kinds: str) -> Evidence:
    """Calls of the operation of their kind's name, with its place as argument; a failed one was refused."""
    plain = evidence(kinds)
    calls = [
        replace(
            call,
            operation=call.kind,
            arguments={"n": place},
            reached_plane=call.became in {"executed", "failed"},
            ended_well=call.became == "executed",
            error="refused" if call.became == "failed" else None,
        )
        for place, call in enumerate(plain.calls)
    ]
    return replace(plain, calls=tuple(calls))


def log(*entries: str) -> tuple[ReceivedCall, ...]:
    """``a0`` is the operation a with the argument 0; ``a0?`` was refused."""
    return tuple(
        ReceivedCall(operation=one[0], arguments={"n": int(one[1])}, error="refused" if one.endswith("?") else None)
        for one in entries
    )


@pytest.mark.parametrize(
    ("kinds", "logged", "found"),
    [
        ("", [], []),
        ("a b? a", ["a0", "b1?", "a2"], []),
        ("a! b c-", ["b1"], []),
        ("a b c", ["a0", "b1"], [("lost", (3,))]),
        ("a b c", ["a0", "c2"], [("lost", (2,))]),
        ("a b", ["a0", "c9", "b1"], [("unsent", (2,))]),
        ("a b", ["a0", "b1", "b1"], [("unsent", (2,))]),
        ("", ["a0"], [("unsent", ())]),
        ("a b", ["a0", "b7"], [("altered", (2,))]),
        ("a b", ["a0", "c1"], [("altered", (2,))]),
        ("a b", ["b1", "a0"], [("altered", (1,))]),
        ("a?", ["a0"], [("altered", (1,))]),
        ("a", ["a0?"], [("altered", (1,))]),
    ],
)
def test_the_first_place_where_both_sides_part_is_told(
    make: Make, kinds: str, logged: list[str], found: list[tuple[str, tuple[int, ...]]]
) -> None:
    both = make()
    said = both.classify(replace(sent(kinds), received=log(*logged)))
    assert [(one.ground, one.steps) for one in said] == found
    assert {one.expected for one in said} <= set(both.phrases())


@pytest.mark.parametrize(
    ("logged", "found"),
    [
        (["a0", "b1", "a2", "a3"], []),
        (["a0", "a2", "a3"], []),
        (["a2", "a3"], []),
        (["a3"], ["lost"]),
        (["a0", "a3"], ["altered"]),
        (["b1", "a2", "a3"], ["altered"]),
        (["a0", "b1", "c9", "a2", "a3"], ["unsent"]),
    ],
)
def test_of_calls_before_it_was_gone_on_with_the_last_may_lack(make: Make, logged: list[str], found: list[str]) -> None:
    whole = sent("a b a a")
    calls = tuple(replace(call, replayed=place < 2) for place, call in enumerate(whole.calls))
    said = make().classify(replace(whole, calls=calls, received=log(*logged)))
    assert [one.ground for one in said] == found


def test_a_control_plane_that_keeps_no_log_proves_nothing(make: Make) -> None:
    (said,) = make().classify(sent("a"))
    assert (said.ground, said.missing) == ("silent", True)


def test_calls_that_never_get_as_far_as_the_log_can_be_named(make: Make) -> None:
    shown = replace(sent("a b?"), received=log("a0"))
    assert make(unlogged=["refused"]).classify(shown) == ()
    assert [one.ground for one in make().classify(shown)] == ["lost"]


def test_it_is_the_control_planes_fault(make: Make) -> None:
    assert make().cause == "control_plane"


def test_without_an_operation_there_are_no_two_sides(make: Make, scenario: Scenario) -> None:
    (problem,) = make().problems(scenario)
    assert "no tool is an operation" in problem.text
    offers: JsonValue = {"x": {"operation": "claim"}}
    changed = Scenario.model_validate({**scenario.model_dump(by_alias=True), "tool": offers})
    assert make().problems(changed) == ()
