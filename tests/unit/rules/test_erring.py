"""Which errors a scenario or a control plane typed, and what that excuses."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.rules import typed_error
from harness.rules.erring import is_no_answer
from harness.schema.base import JsonValue
from harness.schema.observation import Observation
from harness.schema.rules import KindSpec
from harness.schema.tool import ErrorClass, TypedError

RULES: list[JsonValue] = [
    {"exit": 3, "where": {"/kind": "stale"}, "class": "recoverable", "code": "stale_version"},
    {"exit": 3, "class": "terminal", "code": "broken"},
    {"where": {"/kind": {"contains": "unsure"}}, "class": "uncertain", "code": "unsure"},
]


def kind(rules: list[JsonValue]) -> KindSpec:
    return KindSpec.model_validate_json(f'{{"name": "ask", "word": "ask", "errors": {json.dumps(rules)}}}')


def seen(exit_code: int, answer: dict[str, JsonValue] | None = None, own: TypedError | None = None) -> Observation:
    return Observation(ran=True, ok=exit_code == 0, text="", exit_code=exit_code, answer=answer, error=own)


@pytest.mark.parametrize(
    ("observation", "code"),
    [
        (seen(3, {"kind": "stale"}), "stale_version"),
        (seen(3, {"kind": "other"}), "broken"),
        (seen(3), "broken"),
        (seen(4, {"kind": "stale"}), None),
        (seen(0, {"kind": "quite unsure"}), "unsure"),
        (seen(0, {"kind": "sure"}), None),
        (seen(0), None),
        (replace(seen(3), ran=False), None),
        (replace(seen(3), timed_out=True), None),
    ],
)
def test_the_first_rule_that_fits_types_a_result(observation: Observation, code: str | None) -> None:
    found = typed_error(kind(RULES), observation)
    assert (found.code if found else None) == code


def test_the_scenarios_word_comes_before_the_control_planes() -> None:
    own = TypedError(class_="uncertain", code="own")
    assert typed_error(kind([]), seen(3, own=own)) == own
    assert typed_error(kind(RULES), seen(4, own=own)) == own
    assert typed_error(kind(RULES), seen(3, own=own)) == TypedError(class_="terminal", code="broken")


@pytest.mark.parametrize(("class_", "excused"), [("recoverable", False), ("terminal", True), ("uncertain", True)])
def test_what_a_plane_alone_calls_recoverable_is_judged(class_: ErrorClass, excused: bool) -> None:
    assert is_no_answer(kind([]), seen(3, own=TypedError(class_=class_, code="own"))) is excused
    assert is_no_answer(kind([{"exit": 3, "class": class_, "code": "typed"}]), seen(3))
    assert not is_no_answer(kind([]), seen(3))
