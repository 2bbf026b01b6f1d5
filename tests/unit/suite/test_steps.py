from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy
from small_world import SMALL

from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest
from harness.schema.scenario import Scenario
from harness.schema.script import Action, Script, ScriptCall
from harness.schema.tool import ToolSpec
from harness.schema.trace import EpisodeTrace
from harness.suite.steps import walks

PUT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "state": {"type": "string", "enum": ["open", "done"]},
        "n": {"type": "integer"},
        "why": {"type": "string"},
    },
    "required": ["id", "n"],
}
DATA: dict[str, JsonValue] = {
    **SMALL,
    "limits": {"model_turns": 3},
    "values": {"agent": "agent-north"},
    "tool": {"put": {"operation": "update"}},
    "script": {
        "reference": [{"calls": [{"name": "put", "arguments": {"id": "task-one", "n": 7}}]}],
        "wrong": {"stopped": [{"content": "Done."}]},
    },
}
SCENARIO = Scenario.model_validate_json(json.dumps(DATA))
OFFERED = ToolSpec(name="put", description="", parameters=PUT)
CONTROL = ToolSpec(name="blocked", description="", parameters={})
REQUEST = ModelRequest(model="m", messages=(), tools=(OFFERED, CONTROL))
STEPS = walks(SCENARIO, [EpisodeTrace(bound=SCENARIO, requests=(REQUEST,), steps=(), files={})])


def calls(script: Script) -> list[ScriptCall]:
    return [call for action in script if isinstance(action, Action) for call in action.calls or ()]


@settings(max_examples=40)
@given(STEPS)
def test_a_walk_is_a_script_of_at_most_one_answer_more_than_there_are_turns(script: Script) -> None:
    assert 1 <= len(script) <= 4
    assert {call.name for call in calls(script)} <= {"put"}


def is_drawn(strategy: SearchStrategy[Script], fits: Callable[[Script], bool]) -> bool:
    """Whether one of two thousand walks is such a one."""
    how = settings(max_examples=2_000, database=None, derandomize=True, phases=[Phase.generate])
    try:
        return bool(find(strategy, fits, settings=how))
    except NoSuchExample:
        return False


WANTED: list[dict[str, JsonValue]] = [
    {"id": "task-one", "n": 7},
    {"id": "agent-north", "state": "done"},
]


@pytest.mark.parametrize("wanted", WANTED)
def test_calls_have_arguments_of_scripts_and_others_that_fit(wanted: dict[str, JsonValue]) -> None:
    def fits(script: Script) -> bool:
        return any(wanted.items() <= call.arguments.items() for call in calls(script))

    assert is_drawn(STEPS, fits)


def test_some_arguments_are_odd() -> None:
    assert is_drawn(STEPS, lambda script: any(None in call.arguments.values() for call in calls(script)))


def test_words_of_commands_are_put_together_as_a_shell_would() -> None:
    commands = walks(Scenario.model_validate_json(json.dumps(SMALL)), [])

    def fits(script: Script) -> bool:
        return any(" && " in step for step in script if isinstance(step, str))

    assert is_drawn(commands, fits)
