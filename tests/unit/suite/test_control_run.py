from __future__ import annotations

import json

import pytest
from small_world import SMALL, check, part, told

from harness.schema.base import JsonValue
from harness.schema.command import CallSpec
from harness.schema.finding import Proposal
from harness.schema.observation import Observation
from harness.schema.scenario import Scenario
from harness.schema.tool import TypedError
from harness.schema.trace import TraceStep
from harness.suite.control_run import _trouble, _with_call, offered_codes


def test_only_a_path_that_a_rule_forbids_is_tried() -> None:
    data: dict[str, JsonValue] = json.loads(json.dumps(SMALL))
    kinds, scripts = data["kind"], part(data, "script", "wrong")
    assert isinstance(kinds, list)
    kinds.append({"name": "sink", "word": "sink", "fatal": "sunk"})
    kinds.append({"name": "turn", "word": "turn", "never": {"informed": "turned"}})
    scripts.update(sunk=["sink"], turned=["ask", "turn"])
    scenario = Scenario.model_validate_json(json.dumps(data))
    assert set(offered_codes(scenario)) == {"sunk", "turned", "looked_first", "odd"}


def forbidding(data: dict[str, JsonValue], script: list[JsonValue]) -> None:
    """To look is forbidden altogether; the wrong script takes that path."""
    part(data, "kind", 1).pop("needs")
    part(data, "kind", 1).update(never={"informed": "looked_late"})
    wrong = part(data, "script", "wrong")
    wrong.pop("looked_first")
    wrong.update(looked_late=script)


def test_the_wrong_path_is_taken_once_its_rule_is_off() -> None:
    report = check(lambda data: forbidding(data, ["ask", "look"]))
    assert not any(line.startswith("offer of") for line in told(report))
    assert report.offers == 2


def test_a_wrong_path_that_cannot_be_taken_is_told() -> None:
    """The call fails in this world whatever the rules say, so nobody is tempted."""
    report = check(lambda data: forbidding(data, ["ask", "look!"]))
    assert [line for line in told(report) if line.startswith("offer of")] == [
        "offer of looked_late: the wrong path is not on offer: with its rule off the call ends with exit code 1"
    ]


def test_what_comes_too_early_is_tried_and_may_be_refused_by_the_control_plane_too() -> None:
    report = check(lambda data: part(data, "script", "wrong").update(looked_first=["look!"]))
    assert (told(report), report.offers) == ([], 2)


def test_a_wrong_script_that_ends_otherwise_is_not_tried() -> None:
    report = check(lambda data: part(data, "script", "wrong").update(looked_first=["ask", "look"]))
    assert not any(line.startswith("offer of") for line in told(report))
    assert report.offers == 1


@pytest.mark.parametrize(
    ("command", "path", "options", "flags"),
    [
        ("loopx todo update --id x --once", "todo update", ("id", "once"), ("once",)),
        ("cd . && /bin/loopx --format=json todo add --now --id x", "todo add", ("format", "now", "id"), ("now",)),
        ("loopx quota --known --id x", "quota", ("old", "known", "id"), ()),
    ],
)
def test_the_call_to_be_tried_is_allowed_as_it_is_written(
    command: str, path: str, options: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    spec = CallSpec(allow={"quota": ("old",)}, flags=("known",))
    step = TraceStep(command=command, facts=(), counts={}, proposal=Proposal(kind="k", code="c"))
    free = _with_call(spec, step)
    assert free.allow == {**spec.allow, path: options}
    assert free.flags == ("known", *flags)


@pytest.mark.parametrize("command", [None, "cat x", "loopx", "loopx --id x", "loopx 'todo"])
def test_what_is_no_call_changes_nothing(command: str | None) -> None:
    spec = CallSpec(allow={"quota": ("old",)})
    step = TraceStep(command=command, facts=(), counts={}, proposal=Proposal(kind="k", code="c"))
    assert _with_call(spec, step).allow == spec.allow


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (None, "is never made"),
        (Observation(ran=False, ok=False, text="", refused="unknown_path"), "is not run (unknown_path)"),
        (Observation(ran=False, ok=False, text=""), "is not run (refused)"),
        (Observation(ran=True, ok=False, text="", exit_code=2), "ends with exit code 2"),
        (Observation(ran=True, ok=False, text="", timed_out=True), "times out"),
        (
            Observation(ran=True, ok=False, text="", error=TypedError(class_="terminal", code="foreign_owner")),
            "is refused by the control plane (foreign_owner)",
        ),
    ],
)
def test_what_became_of_the_call_is_told_in_words(seen: Observation | None, words: str) -> None:
    assert _trouble(seen) == words
