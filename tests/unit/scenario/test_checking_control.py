"""``[control]``: names that exist, nothing that can never count, and a digest that only what is said changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from numbered import case

from harness.errors import ScenarioError
from harness.scenario import load
from harness.schema.scenario import LoadedScenario

Write = Callable[[str], Path]
GRAMMARS = frozenset({"loopx-0.4"})

FAULTS = {
    "unknown control tool": ('offer = ["stop"]', "control.offer[0]", "request_user_input"),
    "offered twice": ('offer = ["blocked", "blocked"]', "control.offer[1]", "each name once"),
    "unknown tool": ('stop_at_tools = ["runn"]', "control.stop_at_tools[0]", "mean 'run'"),
    "an answer that nobody asks for": ('answers = ["Yes."]', "control.answers", "nobody can ask"),
    "a blank answer": ('offer = ["request_user_input"]\nanswers = [" "]', "control.answers[0]", "allowed"),
    "a long answer": (f'no_call = "wait_user"\nanswers = ["{"a" * 8_193}"]', "control.answers[0]", "allowed"),
    "a nudge for nobody": ('nudge = "Go on."', "control.nudge", "nobody is ever nudged"),
    "unknown policy": ('no_call = "stop"', "control.no_call", "wait_user"),
    "a file nowhere": ('completed_when = { file = "nowhere/a", value = 1 }', "control.completed_when.file", "nowhere"),
    "a file outside": ('completed_when = { file = "home/../a", value = 1 }', "control.completed_when.file", "without"),
    "no expectation": ('completed_when = { file = "home/a" }', "control.completed_when.value", "missing"),
    "two expectations": (
        'completed_when = { file = "home/a", value = { equals = 1, absent = true } }',
        "control.completed_when.value",
        "2 tests in one check",
    ),
    "no pointer": ('completed_when = { file = "home/a", at = "a", value = 1 }', "control.completed_when.at", "allowed"),
    "a late name": ('offer = ["request_user_input"]\nanswers = ["{briefing}"]', "control.answers[0]", "not known here"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_by_its_key(name: str, text: str, write: Write) -> None:
    added, key, told = FAULTS[name]
    with pytest.raises(ScenarioError) as caught:
        load(write(text.replace("[script]\n", f"[control]\n{added}\n[script]\n", 1)), grammars=GRAMMARS)
    assert caught.value.key == key
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["blocked", "request_user_input", "finalize"])
@case(2)
def test_the_name_of_a_control_tool_is_taken(name: str, text: str, write: Write) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(write(text.replace("[tool.run]", f"[tool.{name}]")), grammars=GRAMMARS)
    assert f"the name {name!r} is taken" in str(caught.value)


def loaded(text: str, write: Write, control: str) -> LoadedScenario:
    return load(write(text.replace("[script]\n", f"{control}\n[script]\n", 1)), grammars=GRAMMARS)


def test_what_is_said_beyond_the_defaults_changes_the_digest(text: str, write: Write) -> None:
    plain = loaded(text, write, "")
    defaults = '[control]\noffer = []\nno_call = "finish"\nstop_on_first_tool = false'
    assert loaded(text, write, defaults).digest == plain.digest
    said = loaded(text, write, '[control]\noffer = ["request_user_input"]\nanswers = ["Yes, {task}."]')
    assert said.digest != plain.digest
    assert set(said.parts) - set(plain.parts) == {"control.offer", "control.answers"}
