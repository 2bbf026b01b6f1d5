"""Looking into a packet, and what of it breaks its invariants."""

from __future__ import annotations

import json

import pytest

from harness import rules
from harness.rules.looking import fits, is_filled, look
from harness.schema.base import JsonValue
from harness.schema.packet import PacketSpec
from harness.schema.pointer import MISSING

PACKET: JsonValue = {
    "steps": [{"id": "a", "tags": ["x"]}, {"id": "b"}, "c", {"id": None, "tags": ["y", "z"]}],
    "count": 3,
    "*": {"star": 1},
    "mode": "run",
}


@pytest.mark.parametrize(
    ("at", "found"),
    [
        ("/mode", "run"),
        ("/steps/1/id", "b"),
        ("/steps/*/id", ["a", "b", None]),
        ("/steps/*/tags/*", [["x"], ["y", "z"]]),
        ("/steps/*", [{"id": "a", "tags": ["x"]}, {"id": "b"}, "c", {"id": None, "tags": ["y", "z"]}]),
        ("/mode/*", MISSING),
        ("/nothing/*/id", MISSING),
        ("/steps/*x", MISSING),
    ],
)
def test_a_star_stands_for_every_element(at: str, found: object) -> None:
    assert look(PACKET, at) == found


@pytest.mark.parametrize("value", [MISSING, None, False, 0, 0.0, "", [], {}])
def test_nothing_is_there_where_it_is_empty(value: JsonValue) -> None:
    assert not is_filled(value)
    assert is_filled([value])


def test_conditions_hold_only_together() -> None:
    assert fits(PACKET, {})
    assert fits(PACKET, {"/mode": "run", "/steps/1/id": "b"})
    assert not fits(PACKET, {"/mode": "run", "/steps/1/id": "c"})


def broken(packet: JsonValue, **must: JsonValue) -> list[tuple[str, str | None, JsonValue]]:
    spec = PacketSpec.model_validate_json(json.dumps({"plane": ["x"], "must": [{"code": "wrong", **must}]}))
    return [(one.code, one.pointer, one.got) for one in rules.broken(spec, packet)]


def test_each_place_that_is_not_as_it_must_be_is_told() -> None:
    found = broken(
        {"a": 1, "b": "", "c": -1, "d": True, "e": 1.5, "f": 0},
        holds={"/a": 2},
        there=["/b", "/x", "/a"],
        counts=["/c", "/d", "/e", "/f"],
    )
    assert found == [
        ("wrong", "/a", 1),
        ("wrong", "/b", ""),
        ("wrong", "/x", None),
        ("wrong", "/c", -1),
        ("wrong", "/d", True),
        ("wrong", "/e", 1.5),
    ]


def test_an_invariant_of_some_packets_says_nothing_of_others() -> None:
    asked: dict[str, JsonValue] = {"when": {"/mode": "stop"}, "there": ["/reason"]}
    assert broken({"mode": "run"}, **asked) == []
    assert broken({"mode": "stop"}, **asked) == [("wrong", "/reason", None)]
    assert broken({"mode": "stop", "reason": "x"}, **asked) == []


def test_what_is_looked_for_in_every_element() -> None:
    asked: dict[str, JsonValue] = {"holds": {"/steps/*/id": {"contains": "b"}}}
    assert broken(PACKET, **asked) == []
    assert broken({"steps": [{"id": "a"}]}, **asked) == [("wrong", "/steps/*/id", ["a"])]
    assert broken({}, **asked) == [("wrong", "/steps/*/id", None)]
