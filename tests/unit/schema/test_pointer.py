from __future__ import annotations

import pytest

from harness.schema.base import JsonValue
from harness.schema.pointer import MISSING, pointer

DOCUMENT: JsonValue = {"a": [10, {"b": None}], "": 1, "m/n": 2, "~1": 3, "0": "zero"}


@pytest.mark.parametrize(
    ("at", "value"),
    [
        ("", DOCUMENT),
        ("/a/0", 10),
        ("/a/1/b", None),
        ("/", 1),
        ("/m~1n", 2),
        ("/~01", 3),
        ("/0", "zero"),
    ],
)
def test_pointer_finds_the_value(at: str, value: JsonValue) -> None:
    assert pointer(DOCUMENT, at) == value


@pytest.mark.parametrize(
    "at",
    ["/b", "/a/2", "/a/-", "/a/-1", "/a/00", "/a/01", "/a/²", "/a/1e0", "/a/9999999999", "/a/0/x", "a", "/a/1/b/c"],
)
def test_nothing_is_there_when_a_step_leads_nowhere(at: str) -> None:
    assert pointer(DOCUMENT, at) is MISSING


def test_text_is_not_walked_into() -> None:
    assert pointer("text", "/0") is MISSING
