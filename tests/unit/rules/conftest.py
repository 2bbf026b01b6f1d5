from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal

import pytest

from harness.schema.command import CallPlan, ClockPlan, CommandShape, ParsedCommand, ReadPlan, TargetRole
from harness.schema.rules import KindSpec
from harness.schema.scenario import Scenario

Build = Callable[[Mapping[str, object]], Scenario]


@pytest.fixture
def build() -> Build:
    """A scenario made of a few rules; everything else is the least that the schema wants."""

    def make(rules: Mapping[str, object]) -> Scenario:
        end = {"accept": rules.get("accept", ["done"]), "silence": rules.get("silence", [{"code": "idle"}])}
        end["check"] = rules.get("end_check", [])
        data = {
            "schema": 1,
            "id": "demo/rules",
            "asks": "Nothing.",
            "plane": "demo==1",
            "workspace": {"roots": ["project"]},
            "prompt": {"user": "Go."},
            "tool": {"run": {"about": "Runs.", "argument": "cmd", "grammar": "demo"}},
            "call": {"allow": {}, "many": rules.get("many", [])},
            "kind": rules["kind"],
            "end": end,
            "check": rules.get("check", []),
            "after": rules.get("after", []),
            "outcomes": rules.get("outcomes", {}),
            "script": {"reference": []},
        }
        if "many" not in rules:
            del data["call"]
        return Scenario.model_validate_json(json.dumps(data))

    return make


def _read(call: CallPlan | None, clock: ClockPlan | None, reads: ReadPlan | None) -> ParsedCommand:
    shape = CommandShape(
        parseable=True,
        tokens=1,
        family="unknown",
        segments=1,
        multiline=False,
        pipe=False,
        redirect=False,
        conditional=False,
        expansion=False,
        names_content_target=False,
    )
    return ParsedCommand(call=call, clock=clock, reads=reads, shape=shape)


@pytest.fixture
def parsed() -> Callable[[tuple[str, ...]], ParsedCommand]:
    """A command that was read as a call with these tokens."""
    return lambda tokens: _read(CallPlan(tokens=tokens), None, None)


@pytest.fixture
def read_as() -> Callable[[Literal["clock"] | TargetRole], ParsedCommand]:
    """A command that was read as a question for the time (``clock``) or as reads of this role."""

    def make(role: Literal["clock"] | TargetRole) -> ParsedCommand:
        if role == "clock":
            return _read(None, ClockPlan(utc=False), None)
        return _read(None, None, ReadPlan(segments=(), role=role))

    return make


@pytest.fixture
def kind() -> Callable[[Scenario, str], KindSpec]:
    """The kind of that name."""

    def find(scenario: Scenario, name: str) -> KindSpec:
        return next(kind for kind in scenario.kind if kind.name == name)

    return find
