from __future__ import annotations

import pytest

from harness.scenario import resolve_late
from harness.schema.base import JsonValue
from harness.schema.scenario import LateValue

ANSWERS: dict[str, dict[str, JsonValue]] = {"ask": {"next": ["act --id 1", 7]}}


def plane(args: tuple[str, ...]) -> dict[str, JsonValue] | None:
    return {"text": " ".join(args)} if args[0] == "brief" else None


@pytest.mark.parametrize(
    ("late", "value"),
    [
        (LateValue(plane=("brief", "me"), at="/text"), "brief me"),
        (LateValue(plane=("brief", "me"), at="/gone"), None),
        (LateValue(plane=("broken",), at="/text"), None),
        (LateValue(plane=("brief",)), None),
        (LateValue(prompt="run `([^`]*)`"), "ask --now"),
        (LateValue(prompt="stop `([^`]*)`"), None),
        (LateValue(prompt="(nothing)?"), None),
        (LateValue(answer="ask", at="/next/0"), "act --id 1"),
        (LateValue(answer="ask", at="/next/1"), None),
        (LateValue(answer="act", at="/next/0"), None),
        (LateValue(shown="cursor ([0-9]+)"), "7"),
        (LateValue(shown="path ([a-z]+)"), "kept"),
        (LateValue(shown="([A-Z]{9})"), None),
        (LateValue(), None),
    ],
)
def test_late_value_is_a_text_from_its_source_or_not_known(late: LateValue, value: str | None) -> None:
    shown = ("path kept, cursor 3", "cursor 7")
    prompt = "Please run `ask --now` first."
    assert resolve_late(late, prompt=prompt, answer=ANSWERS.get, plane=plane, shown=shown) == value
