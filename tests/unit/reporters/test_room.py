from __future__ import annotations

from markupsafe import Markup

from harness.reporters._room import Room


def test_parts_are_taken_together_or_not_at_all() -> None:
    room = Room(10)
    assert room.add({"a": Markup("éé"), "b": Markup("12")})
    assert not room.add({"c": Markup("1"), "d": Markup("1234")})
    assert (dict(room.shown), room.left) == ({"a": "éé", "b": "12"}, 4)
    assert room.shown["c"] == ""


def test_a_part_that_takes_the_place_of_another_costs_only_the_difference() -> None:
    room = Room(10)
    room.add({"a": Markup("12345678")})
    assert room.add({"a": Markup("1234567890")})
    assert (room.shown["a"], room.left) == ("1234567890", 0)
    assert not room.add({"a": Markup("12345678901")})
