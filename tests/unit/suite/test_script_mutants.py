from __future__ import annotations

import json

from small_world import SMALL

from harness.schema.base import JsonValue
from harness.schema.finding import Proposal
from harness.schema.scenario import Scenario
from harness.schema.script import Action, Script, ScriptCall
from harness.schema.trace import EpisodeTrace, TraceStep
from harness.suite.script_mutants import mutants_of

BOUND = Scenario.model_validate_json(json.dumps(SMALL))


def mutants(script: Script, *commands: str, ending: dict[str, JsonValue] | None = None) -> dict[str, Script]:
    steps = [TraceStep(command=text, facts=(), counts={}, proposal=Proposal(kind=None, code=None)) for text in commands]
    trace = EpisodeTrace(bound=BOUND, requests=(), steps=tuple(steps), files={}, ending=ending)
    found = list(mutants_of(script, trace))
    assert len({one.mutation for one in found}) == len(found)
    return {one.mutation: one.script for one in found}


def test_answers_are_dropped_swapped_and_repeated() -> None:
    made = mutants(("-", "=", "="))
    assert made == {
        "drop 1": ("=", "="),
        "drop 2": ("-", "="),
        "drop 3": ("-", "="),
        "swap 1": ("=", "-", "="),
        "repeat 1": ("-", "-", "=", "="),
        "repeat 2": ("-", "=", "=", "="),
        "repeat 3": ("-", "=", "=", "="),
    }


def test_each_word_of_a_command_is_altered_as_it_really_was() -> None:
    command = "cat '/tmp/x/long name.json' | head -n 3 --lines 20 a a"
    made = mutants(("{placeholder}",), command)
    altered = {
        name: action.replace for name, script in made.items() for action in script[:1] if isinstance(action, Action)
    }
    words = ["cat", "long name.json", "head", "20"]
    assert altered == {f"alter 1 {word}": ((word, f"{word}-altered"),) for word in words}


def test_the_command_of_an_answer_is_found_behind_answers_without_one() -> None:
    script = (Action(content="First."), Action(command="{b}", replace=(("x", "y"),)))
    made = mutants(script, "look")
    other = made["alter 2 look"][1]
    assert isinstance(other, Action)
    assert (other.command, other.replace) == ("{b}", (("x", "y"), ("look", "look-altered")))


def test_a_command_that_no_shell_can_read_is_altered_all_the_same() -> None:
    assert "alter 1 it's" in mutants(("{c}",), "echo it's")


def test_each_leaf_of_the_arguments_of_each_call_is_altered() -> None:
    none: JsonValue = []
    same: dict[str, JsonValue] = {"id": "a", "n": 2, "on": True, "of": [None, none], "t": {"a/b": 0.5}}
    call = ScriptCall(name="put", arguments=same)
    action = Action(calls=(ScriptCall(name="get", arguments={"id": "z"}), call))
    made = mutants((action,))
    changed: dict[str, dict[str, JsonValue]] = {}
    for name, script in made.items():
        if name.startswith("alter 1 put/") and isinstance(script[0], Action) and script[0].calls:
            assert script[0].calls[0] == action.calls[0] if action.calls else False
            changed[name.removeprefix("alter 1 put")] = script[0].calls[1].arguments
    assert changed == {
        "/id": {**same, "id": "a-altered"},
        "/n": {**same, "n": 3},
        "/on": {**same, "on": False},
        "/of/0": {**same, "of": ["-altered", none]},
        "/of/1": {**same, "of": [None, ["-altered"]]},
        "/t/a~1b": {**same, "t": {"a/b": 1.5}},
    }
    assert "alter 1 get/id" in made


def test_two_calls_of_one_tool_are_told_apart() -> None:
    twice = Action(calls=(ScriptCall(name="get", arguments={"id": "a"}), ScriptCall(name="get", arguments={"id": "b"})))
    assert {"alter 1 get#1/id", "alter 1 get#2/id"} <= set(mutants((twice,)))


def test_the_final_answer_is_altered_where_checks_of_the_end_look_at_it() -> None:
    script = (Action(content='```json\n{"n": 2}\n```'),)
    assert [name for name in mutants(script) if name.startswith("alter")] == []
    made = mutants(script, ending={"answer": {"n": 2}, "state": {}})
    assert made["alter 1 content/n"] == (Action(content='{"n": 3}'),)
