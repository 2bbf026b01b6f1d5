from __future__ import annotations

import json

import pytest
from small_world import SMALL

from harness.schema.base import JsonValue
from harness.schema.message import AssistantMessage, Message, ModelRequest, SystemMessage, ToolMessage, UserMessage
from harness.schema.scenario import Scenario
from harness.schema.tool import ToolSpec
from harness.schema.trace import EpisodeTrace
from harness.suite.answer_key import told_answers


def found(
    *messages: Message, about: str = "Run.", file: tuple[str, str] | None = None, **change: JsonValue
) -> list[tuple[str, str]]:
    """Name and place of each finding where the actor was shown these."""
    data: dict[str, JsonValue] = {**SMALL, **change}
    if file is not None:
        data["workspace"] = {"roots": ["project"], "file": [{"at": [file[0]], "text": file[1]}]}
    scenario = Scenario.model_validate_json(json.dumps(data))
    request = ModelRequest(
        model="m", messages=messages, tools=(ToolSpec(name="exec", description=about, parameters={}),)
    )
    trace = EpisodeTrace(bound=scenario, requests=(request,), steps=(), files={})
    return [
        (one.where.removeprefix("answer key "), one.what.partition(": ")[2]) for one in told_answers(scenario, [trace])
    ]


def test_a_code_is_found_wherever_the_actor_can_read_it() -> None:
    assert found(SystemMessage(text="Else it is asked_twice.")) == [("asked_twice", "the system prompt has it")]
    assert found(UserMessage(text="(look_failed)")) == [("look_failed", "what the user says has it")]
    result = ToolMessage(call_id="c", name="exec", text='{"code":"asked_twice"}')
    assert found(result) == [("asked_twice", "a tool's result has it")]
    assert found(about="Never asked_twice.") == [("asked_twice", "the tool exec has it")]
    assert found(file=("project/a.txt", "asked_twice")) == [("asked_twice", "the file project/a.txt has it")]
    named = found(file=("project/asked_twice", ""))
    assert named == [("asked_twice", "the name of the file project/asked_twice has it")]


def test_a_name_is_told_once_and_what_the_actor_says_itself_is_not_told_to_it() -> None:
    assert len(found(SystemMessage(text="asked_twice"), UserMessage(text="asked_twice asked_twice"))) == 1
    assert found(AssistantMessage(text="asked_twice")) == []


@pytest.mark.parametrize("text", ["asked_twice_more", "not-asked_twice", "asked twice", "Asked_Twice"])
def test_a_part_of_another_word_is_no_name(text: str) -> None:
    assert found(UserMessage(text=text)) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("You are informed, and have seen.", []),
        ("Until you are `informed`.", ["informed"]),
        ("It sets 'seen'.", ["seen"]),
        ("A 'seenable' thing.", []),
    ],
)
def test_a_name_of_one_word_counts_in_quotes_and_in_the_scenarios_own_texts_only(text: str, told: list[str]) -> None:
    assert [name for name, _ in found(prompt={"user": text})] == told
    assert found(UserMessage(text=text)) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Look at /target/names/0.", ["/target/names/0"]),
        ("Look at /gone/deeper/still", ["/gone/deeper"]),
        ("project/target/names/0", []),
        ("/target/names/01", []),
        ("Look at /mode.", []),  # one part is a path like any other
    ],
)
def test_pointers_of_the_rules_are_names_too(text: str, told: list[str]) -> None:
    assert [name for name, _ in found(UserMessage(text=text))] == told


def test_what_a_value_is_compared_with_is_a_pointer_of_the_rules() -> None:
    check: JsonValue = [{"kind": "ask", "answer": {"/a/b": {"same_as": "/c/d"}}}]
    assert [name for name, _ in found(UserMessage(text="/c/d"), check=check)] == ["/c/d"]
