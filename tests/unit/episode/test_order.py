"""The order of checks is data, and it is the specification's."""

from __future__ import annotations

from harness.episode.call import CALL
from harness.episode.turn import TURN


def test_the_steps_of_a_turn_stand_in_the_order_of_the_specification() -> None:
    """Runner specification 2.3; T14 is part of T13, T27 follows every turn that had a reply."""
    names = [name for name, _ in TURN]
    expected = [
        "T1",
        "T2",
        "T3",
        "T5",
        "T6",
        "T10",
        "T11",
        "T12",
        "T13",
        "T15",
        "T17",
        "T18",
        "T19",
        "T20",
        "T21",
        "T22",
    ]
    assert names == expected


def test_the_steps_of_a_call_stand_in_the_order_of_the_specification() -> None:
    """Runner specification 2.4."""
    assert [name for name, _ in CALL] == ["C1", "C2", "C4", "C5", "C6", "C7", "C11", "C12", "C13", "C14", "C16", "C19"]


def test_every_step_is_a_function_of_its_own() -> None:
    steps = [step for _, step in (*TURN, *CALL)]
    assert len(set(steps)) == len(steps)
