"""Operations of a control plane as tools, and what is said at the end held against what the control plane holds."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from driving import Driving, Killed, kill_when
from numbered import case
from toy import ReplyActor, Stage, called, said

from harness.controlplanes.registry import OPERATIONS, open_plane
from harness.episode import DurablePlace
from harness.ports import ControlPlane, TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply, ToolMessage
from harness.schema.tool import ToolCall
from harness.wiring.judges import CLASSIFIERS
from harness.workspace import Workspace

CHANGE: dict[str, JsonValue] = {
    "workspace": {"prepare": [{"plane": ["create", '{"id": "a", "title": "First"}']}]},
    "prompt": {"user": "Claim a, then say its status.", "must_contain": []},
    "tool": {"claim_task": {"operation": "claim"}, "get_task": {"operation": "get", "about": "Look."}},
    "kind": [
        {"name": "ask", "call": ["ask plane"]},
        {"name": "look", "tool": "get_task", "sets": "looked"},
        {"name": "claim", "tool": "claim_task", "where": {"/agent": "north"}, "sets": "claimed"},
    ],
    "end": {
        "accept": ["claimed"],
        "silence": [{"code": "did_nothing"}],
        "check": [{"code": "false_claim", "holds": {"/answer/status": {"same_as": "/state/tasks/a/status"}}}],
    },
    "check": [],
    "boundary": {"plane_writes": ["project/registry.sqlite"]},
}
HONEST = said('{"status": "in_progress"}')


def call(tool: str, id_: str = "c1", /, **arguments: JsonValue) -> ToolCall:
    """A call of any tool."""
    return ToolCall(id=id_, name=tool, arguments_raw=json.dumps(arguments), arguments=arguments)


CLAIM = said("Mine.", call("claim_task", id="a", agent="north", version=1))
LOOK = said("Hm.", call("get_task", "c0", id="a"))


@pytest.fixture
def stage(stage: Stage) -> Stage:
    def opens(workspace: Workspace) -> ControlPlane:
        return open_plane(workspace.cwd)

    stage.opens, stage.operations = opens, OPERATIONS
    return stage


def results(actor: ReplyActor) -> list[ToolMessage]:
    """What the actor was answered, as the last request shows it."""
    return [message for message in actor.requests[-1].messages if isinstance(message, ToolMessage)]


def test_an_operation_is_a_tool_with_the_planes_own_schema(stage: Stage) -> None:
    actor = ReplyActor([CLAIM, HONEST])
    played = stage.play(actor=actor, change=CHANGE)
    claim, look = (tool for tool in actor.requests[0].tools if tool.name != "exec")
    assert (claim.name, claim.description) == ("claim_task", OPERATIONS["claim"].description)
    assert (look.description, look.parameters) == ("Look.", OPERATIONS["get"].parameters)
    assert played.ending == ("completed/final_response", "pass", None)


def test_a_call_of_it_is_judged_by_tool_and_arguments_and_kept_without_a_command(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([CLAIM, HONEST]), change=CHANGE)
    (step,) = played.receipt.steps
    assert (step.kind, step.result, step.executed, step.sets) == ("claim", "succeeded", True, ("claimed",))
    assert (step.shape, step.command_digest) == (None, None)
    assert step.answer_digest is not None
    assert step.arguments_digest is not None
    (change,) = played.receipt.boundary.changes
    assert (change.path, change.by, change.allowed) == ("project/registry.sqlite", "control_plane", True)
    assert played.result.log.plane_calls == 1


def test_facts_alone_do_not_end_it_where_the_end_is_checked(stage: Stage) -> None:
    actor = ReplyActor([CLAIM, LOOK, HONEST])
    assert stage.play(actor=actor, change=CHANGE).ending == ("completed/final_response", "pass", None)
    assert [message.failed for message in results(actor)] == [False, False]


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ('{"status": "done"}', "text of 4 characters, sha256:"),
        ("It is done.", "nothing"),
        ('{"status": 4711}', '"a value with a number"'),
        ('{"status": [{"n": 4711}]}', '"a value with a number"'),
        ('{"status": true}', "true"),
        ('{"status": NaN}', "nothing"),
        ("[" * 100_000, "nothing"),
        ('```json\n{"status": "open"}\n``` Done.', "nothing"),
    ],
)
def test_what_is_said_must_be_what_is(stage: Stage, text: str, got: str) -> None:
    change: dict[str, JsonValue] = {**CHANGE, "limits": {"output_bytes": 200_000}}
    played = stage.play(actor=ReplyActor([CLAIM, said(text)]), change=change)
    assert played.ending == ("completed/final_response", "fail", "false_claim")
    (finding,) = played.receipt.findings
    assert (finding.check, finding.pointer, finding.step) == ("end", "/answer/status", None)
    assert finding.expected == '"the value at #/state/tasks/a/status"'
    assert (finding.got or "").startswith(got)
    assert "4711" not in played.receipt.model_dump_json()


@pytest.mark.parametrize("text", ['```json\n{"status": "in_progress"}\n```', '  {"status": "in_progress"}\n'])
def test_json_may_be_said_with_blanks_or_in_a_fence(stage: Stage, text: str) -> None:
    assert stage.play(actor=ReplyActor([CLAIM, said(text)]), change=CHANGE).receipt.verdict == "pass"


@pytest.mark.parametrize(("told", "verdict"), [("in_progress", "pass"), ("done", "fail")])
def test_a_claim_of_being_done_is_an_answer_too(stage: Stage, told: str, verdict: str) -> None:
    end: JsonValue = {
        "accept": ["claimed"],
        "silence": [{"code": "did_nothing"}],
        "check": [
            {"code": "false_claim", "holds": {"/answer/metrics/a": {"same_as": "/state/tasks/a/status"}}},
            {"code": "no_status", "holds": {"/answer/status": "completed"}},
        ],
    }
    change: dict[str, JsonValue] = {**CHANGE, "end": end, "control": {"offer": ["finalize"]}}
    claim = call("finalize", "c2", summary="Claimed a.", completion=["Claimed a."], metrics={"a": told})
    played = stage.play(actor=ReplyActor([CLAIM, said("", claim)]), change=change)
    code = None if verdict == "pass" else "false_claim"
    assert played.ending == ("completed/finalized", verdict, code)


def test_a_claim_that_was_sent_back_is_no_answer(stage: Stage) -> None:
    change: dict[str, JsonValue] = {**CHANGE, "control": {"offer": ["finalize"]}}
    refused = call("finalize", "c0", summary="Done.", completion=["Claimed a."], metrics={"status": "in_progress"})
    outcomes: JsonValue = {"limit_exceeded/model_turns": {"verdict": "pass"}}
    played = stage.play(
        actor=ReplyActor([said("", refused), CLAIM]),
        change={**change, "outcomes": outcomes, "limits": {"model_turns": 2}},
    )
    assert played.ending == ("limit_exceeded/model_turns", "fail", "false_claim")
    (finding,) = played.receipt.findings
    assert finding.got in {None, "nothing"}


def test_an_answer_without_the_facts_is_silence(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([LOOK, said('{"status": "open"}')]), change=CHANGE)
    assert played.ending == ("completed/final_response", "fail", "did_nothing")


def test_an_ending_that_the_scenario_calls_a_pass_is_held_against_the_state_too(stage: Stage) -> None:
    end: JsonValue = {
        "accept": ["claimed"],
        "silence": [{"code": "did_nothing"}],
        "check": [{"code": "not_claimed", "holds": {"/state/tasks/a/owner": "north"}}],
    }
    outcomes: JsonValue = {"limit_exceeded/model_turns": {"verdict": "pass"}}
    change: dict[str, JsonValue] = {**CHANGE, "limits": {"model_turns": 1}, "outcomes": outcomes, "end": end}
    assert stage.play(actor=ReplyActor([LOOK]), change=change).ending[1:] == ("fail", "not_claimed")
    assert stage.play(actor=ReplyActor([CLAIM]), change=change).ending[1:] == ("pass", None)


def blocked(text: str) -> Reply:
    """Says that it cannot go on."""
    return said("", call("blocked", "b", code="external_dependency", text=text))


@pytest.mark.parametrize(
    ("replies", "verdict", "code"),
    [
        ((CLAIM, blocked('{"status": "in_progress"}')), "pass", None),
        ((CLAIM, blocked('{"status": "done"}')), "fail", "false_claim"),
        ((CLAIM, blocked("Somebody else must go first.")), "fail", "false_claim"),
        ((LOOK, blocked('{"status": "open"}')), "fail", "did_nothing"),
    ],
)
@pytest.mark.parametrize("durable", [False, True])
def test_who_is_blocked_is_judged_by_facts_and_by_what_it_says_where_the_scenario_wants_that(
    stage: Stage, tmp_path: Path, replies: tuple[Reply, ...], verdict: str, code: str | None, *, durable: bool
) -> None:
    change: dict[str, JsonValue] = {
        **CHANGE,
        "control": {"offer": ["blocked"]},
        "outcomes": {"suspended/blocked": {"verdict": "pass", "needs": ["claimed"]}},
    }
    place = DurablePlace(tmp_path / "episode", "me", sync=False) if durable else None
    played = stage.play(actor=ReplyActor(list(replies)), change=change, durable=place)
    assert played.ending == ("suspended/blocked", verdict, code)
    assert not played.result.log.resumable  # it is judged, so nobody is waited for


BOTH = said("", call("claim_task", "c1", id="a", agent="north", version=1), call("get_task", "c2", id="a"))


@case(58)
def test_who_used_all_calls_may_still_answer_and_is_judged_by_it(stage: Stage) -> None:
    change: dict[str, JsonValue] = {**CHANGE, "limits": {"tool_calls": 2}}
    assert stage.play(actor=ReplyActor([BOTH, HONEST]), change=change).ending == (
        "completed/final_response",
        "pass",
        None,
    )


@case(59)
def test_who_used_all_calls_and_calls_again_is_at_the_end(stage: Stage) -> None:
    change: dict[str, JsonValue] = {**CHANGE, "limits": {"tool_calls": 2}}
    outcome = stage.play(actor=ReplyActor([BOTH, LOOK]), change=change).receipt.outcome
    assert (outcome.name, outcome.observed, outcome.attempted, outcome.overshoot) == (
        "limit_exceeded/tool_calls",
        2,
        1,
        1,
    )


@case(79)
@pytest.mark.parametrize(("text", "verdict"), [("I am blocked by b.", "pass"), ("It is done.", "fail")])
def test_what_is_said_in_prose_ends_the_loop_and_the_scenario_decides(stage: Stage, text: str, verdict: str) -> None:
    end: JsonValue = {
        "accept": ["looked"],
        "silence": [{"code": "did_nothing"}],
        "check": [{"code": "hid_it", "holds": {"/answer": {"contains": "blocked"}}}],
    }
    played = stage.play(actor=ReplyActor([LOOK, said(text)]), change={**CHANGE, "end": end})
    assert played.ending[:2] == ("completed/final_response", verdict)


def test_a_refusal_is_shown_with_its_code_and_sets_nothing(stage: Stage) -> None:
    actor = ReplyActor([said("", call("claim_task", id="a", agent="north", version=9)), HONEST])
    played = stage.play(actor=actor, change=CHANGE)
    (step,) = played.receipt.steps
    assert (step.result, step.executed, step.sets) == ("error_recoverable", True, ())
    (result,) = results(actor)
    assert json.loads(result.text)["error"]["code"] == "stale_version"
    assert result.failed
    assert (played.receipt.boundary.changes, played.receipt.failure_code) == ((), "did_nothing")


@pytest.mark.parametrize("arguments", [{"id": "a"}, {"id": "a", "agent": "north", "version": "1"}])
def test_arguments_that_break_the_planes_schema_are_of_no_kind_and_do_not_run(
    stage: Stage, arguments: dict[str, JsonValue]
) -> None:
    actor = ReplyActor(
        [
            said("", call("claim_task", "c1", **arguments)),
            CLAIM.model_copy(update={"calls": (call("get_task", "c2", id="a"),)}),
            HONEST,
        ]
    )
    played = stage.play(actor=actor, change=CHANGE)
    step, other = played.receipt.steps
    assert (step.kind, step.result, step.executed) == (None, "invalid_arguments", False)
    assert other.kind == "look"
    assert played.result.log.plane_calls == 1


def test_an_operation_of_no_kind_is_not_run(stage: Stage) -> None:
    actor = ReplyActor([said("", call("claim_task", id="a", agent="south", version=1))])
    played = stage.play(actor=actor, change=CHANGE)
    assert played.ending == ("failed/scenario_violation", "fail", "unexpected_command")
    assert played.result.log.plane_calls == 0


@case(1)
def test_an_operation_that_the_plane_has_not_is_a_broken_scenario(stage: Stage) -> None:
    stage.operations = {}
    played = stage.play(actor=ReplyActor([]), change=CHANGE)
    assert played.ending[:2] == ("rejected/setup_rejected", "not_judged")
    assert played.result.log.problem == "tool.claim_task: the control plane has no operation 'claim'"


def test_commands_and_operations_can_be_offered_together(stage: Stage) -> None:
    ls: dict[str, JsonValue] = {"name": "list", "read": "metadata"}
    kinds = CHANGE["kind"]
    assert isinstance(kinds, list)
    answer: JsonValue = {"/task/depends_on": {"commands": {"list": 0}, "none_contains": "x", "code": "suggests"}}
    change: dict[str, JsonValue] = {
        **CHANGE,
        "workspace": {
            "prepare": [
                {"plane": ["create", '{"id": "ls", "title": "Zero"}']},
                {"plane": ["create", '{"id": "a", "title": "First", "depends_on": ["ls"]}']},
            ]
        },
        "kind": [ls, *kinds],
        "check": [{"kind": "look", "answer": answer}],
    }
    played = stage.play(actor=ReplyActor([said("", called("ls")), LOOK]), change=change)
    assert played.kinds == ["list", "look"]
    assert played.receipt.failure_code == "suggests"  # "ls" is a command where it is given to the command tool


def test_an_answer_beyond_the_byte_limit_ends_it(stage: Stage) -> None:
    prepare: JsonValue = [{"plane": ["create", json.dumps({"id": "a", "title": "x" * 2000})]}]
    change: dict[str, JsonValue] = {
        **CHANGE,
        "workspace": {"prepare": prepare},
        "limits": {"tool_result_bytes": 1024},
    }
    assert stage.play(actor=ReplyActor([LOOK]), change=change).ending[0] == "limit_exceeded/tool_result_bytes"


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_plane_that_breaks_meanwhile_is_nobodys_failure(stage: Stage, turn: int) -> None:
    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        if context.turn == turn:
            for file in stage.temporary.rglob("registry.sqlite"):
                file.write_bytes(b"x" * 8192)
        return (LOOK, CLAIM, HONEST)[context.turn - 1]

    actor = ReplyActor([reply] * 3)
    played = stage.play(actor=actor, change=CHANGE)
    assert played.ending[:2] == ("failed/tool_error", "not_judged")
    assert played.receipt.cause == "control_plane"
    assert "registry" in (played.result.log.problem or "")


def test_bytes_that_say_the_same_are_no_change(stage: Stage) -> None:
    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        for file in stage.temporary.rglob("registry.sqlite"):
            with closing(sqlite3.connect(file)) as other:
                other.execute(f"PRAGMA user_version = {context.turn}")
        return LOOK if context.turn == 1 else HONEST

    played = stage.play(actor=ReplyActor([reply] * 2), change=CHANGE)
    assert played.receipt.failure_code == "did_nothing"
    assert played.receipt.boundary.changes == ()


#: Judged by what the registry logged and held before, too: both survive a driver that is killed.
JUDGED: dict[str, JsonValue] = {
    **CHANGE,
    "classify": [
        {"by": "two_sided", "code": "log_differs"},
        {"by": "state", "code": "damaged", "settings": {"only": ["/tasks/a", "/by_status"]}},
    ],
}


def live(seen: list[int]) -> ReplyActor:
    """A live model that claims and reports; every answer was paid for."""

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        seen.append(context.turn)
        return (LOOK, CLAIM, HONEST)[context.turn - 1]

    return ReplyActor([reply] * 9)


@pytest.mark.parametrize(
    ("kind", "operation", "after"),
    [
        ("op_started", "turn-2/call-1", True),
        ("op_receipt", "turn-2/call-1", False),
        ("op_receipt", "turn-2/call-1", True),
        ("closed", None, False),
    ],
)
def test_a_driver_that_is_killed_leaves_the_registry_as_one_claim_makes_it(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, operation: str | None, *, after: bool
) -> None:
    seen: list[int] = []
    stage.classifiers = CLASSIFIERS
    driving = Driving(stage, tmp_path / "episode")
    with monkeypatch.context() as patch:
        kill_when(patch, kind, operation=operation, after=after)
        with pytest.raises(Killed):
            driving.drive(actor=live(seen), change=JUDGED)
    played = driving.drive(actor=live(seen), change=JUDGED)
    assert played.ending == ("completed/final_response", "pass", None)
    assert seen == [1, 2, 3]
    plain = stage.play(actor=live([]), change=JUDGED)
    assert played.receipt.model_dump_json() == plain.receipt.model_dump_json()


def stale(number: int) -> Reply:
    """A claim of a version that is not there any more."""
    return said("", call("claim_task", f"s{number}", id="a", agent="north", version=9))


def test_an_error_of_an_operation_is_typed_by_its_code_and_repeating_it_is_a_loop(stage: Stage) -> None:
    actor = ReplyActor([*map(stale, range(5))])
    played = stage.play(actor=actor, change=CHANGE)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail) == ("failed/tool_loop_detected", "claim_task:stale_version:3")
    assert [message.failed for message in results(actor)] == [True, True]


def test_a_claim_that_reacts_to_the_error_is_no_loop(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([stale(1), stale(2), CLAIM, HONEST]), change=CHANGE)
    assert played.receipt.verdict == "pass"


def test_what_an_operation_raises_is_kept_nowhere(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(*_: object, **__: object) -> None:
        raise RuntimeError("canary-4711")

    monkeypatch.setattr("harness.controlplanes.registry.plane.RegistryPlane.call", raises)
    plain: dict[str, JsonValue] = {**CHANGE, "workspace": {"prepare": []}}
    for change in (plain, CHANGE):
        played = stage.play(actor=ReplyActor([CLAIM]), change=change)
        assert (played.receipt.outcome.name, played.receipt.outcome.detail) == ("failed/tool_error", "control_plane")
        assert "canary" not in played.result.model_dump_json()
