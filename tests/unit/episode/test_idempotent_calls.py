"""A call that reaches out of the workspace and was cut off by a kill: made again where a key makes that safe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from driving import Driving, Killed
from numbered import case
from toy import ReplyActor, Stage, said

from harness.controlplanes.registry import OPERATIONS, RegistryPlane, open_plane
from harness.episode import DurablePlace
from harness.episode.deciding import decide
from harness.ports import ControlPlane, TurnContext
from harness.schema.base import JsonValue, fields_of
from harness.schema.message import ModelRequest, Reply
from harness.schema.process import OperationAnswer
from harness.schema.run import EpisodeOptions
from harness.schema.tool import ToolCall
from harness.workspace import Workspace

CHANGE: dict[str, JsonValue] = {
    "workspace": {"prepare": [{"plane": ["create", '{"id": "a", "title": "First"}']}]},
    "prompt": {"user": "Comment on a.", "must_contain": []},
    "tool": {"comment_task": {"operation": "comment"}},
    "kind": [{"name": "ask", "call": ["ask plane"]}, {"name": "comment", "tool": "comment_task", "sets": "said"}],
    "end": {
        "accept": ["said"],
        "silence": [{"code": "did_nothing"}],
        "check": [{"code": "lost", "holds": {"/state/tasks/a/comments/0/text": "Here."}}],
    },
    "check": [],
}
COMMENT: dict[str, JsonValue] = {"id": "a", "agent": "north", "text": "Here."}
REPEAT = EpisodeOptions(repeat_idempotent=True)
PASSED = ("completed/final_response", "pass", None)


class Outside(RegistryPlane):
    """A registry outside of every workspace, whose caller may die once it has done what it was asked."""

    deaths = 0
    keys: list[str | None]

    @property
    def confined_to_fixture(self) -> bool:
        """What it holds outlives the workspace."""
        return False

    def call(
        self, operation: str, arguments: Mapping[str, JsonValue], *, timeout_s: float, key: str | None = None
    ) -> OperationAnswer:
        """As the registry does, and notes the key of a comment."""
        done = super().call(operation, arguments, timeout_s=timeout_s, key=key)
        if operation == "comment":
            self.keys.append(key)
            if len(self.keys) <= self.deaths:
                raise Killed
        return done


class Careless(Outside):
    """The same, and it declares that nothing is idempotent."""

    @property
    def idempotent(self) -> frozenset[str]:
        """Nothing is."""
        return frozenset()


class World:
    """Drivers of episodes against one registry that stays."""

    def __init__(self, stage: Stage, tmp_path: Path, plane: type[Outside] = Outside) -> None:
        self.keys: list[str | None] = []
        self.deaths, self.requests = 1, list[ModelRequest]()
        self.asked: list[int] = []
        (tmp_path / "outside").mkdir()
        self.registry = open_plane(tmp_path / "outside")

        def opens(_: Workspace) -> ControlPlane:
            opened = plane(self.registry.store)
            opened.keys, opened.deaths = self.keys, self.deaths
            return opened

        stage.opens, stage.operations = opens, OPERATIONS
        self.driving = Driving(stage, tmp_path / "episode")

    def actor(self, id_: str = "call-of-mine") -> ReplyActor:
        """A live model that comments, and is done."""
        call = ToolCall(id=id_, name="comment_task", arguments_raw=json.dumps(COMMENT), arguments=COMMENT)

        def reply(request: ModelRequest, context: TurnContext) -> Reply:
            self.requests.append(request)
            self.asked.append(context.turn)
            return (said("", call), said("Done."))[context.turn - 1]

        return ReplyActor([reply] * 9)

    @property
    def comments(self) -> int:
        """Effects so far."""
        document = self.registry.call("get", {"id": "a"}, timeout_s=1.0).document
        task = document["task"]
        assert isinstance(task, dict)
        assert isinstance(task["comments"], list)
        return len(task["comments"])


@pytest.fixture
def world(stage: Stage, tmp_path: Path) -> World:
    return World(stage, tmp_path)


@case(164)
@pytest.mark.parametrize("deaths", [1, 3])
def test_a_call_with_a_key_is_made_again_and_has_one_effect(world: World, deaths: int) -> None:
    world.deaths = deaths
    for _ in range(deaths):
        with pytest.raises(Killed):
            world.driving.drive(actor=world.actor(), change=CHANGE, options=REPEAT)
        assert world.comments == 1
    played = world.driving.drive(actor=world.actor(), change=CHANGE, options=REPEAT)
    assert (played.ending, world.comments, world.asked) == (PASSED, 1, [1, 2])
    assert "repeated_idempotent" in played.result.log.recovery
    assert "duplicate_risk" not in played.result.log.recovery
    again = world.driving.drive(actor=world.actor(), change=CHANGE, options=REPEAT)
    assert set(again.result.log.recovery) == set(played.result.log.recovery)
    (key,) = set(world.keys)
    assert len(world.keys) == deaths + 1
    assert key is not None
    shown = "".join(json.dumps(request, default=fields_of) for request in world.requests)
    assert key not in shown + played.receipt.model_dump_json()
    assert "call-of-mine" not in key


@case(164)
def test_without_the_setting_it_waits_for_a_decision_and_a_retry_has_the_same_key(world: World) -> None:
    with pytest.raises(Killed):
        world.driving.drive(actor=world.actor(), change=CHANGE)
    played = world.driving.drive(actor=world.actor(), change=CHANGE)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail, world.comments) == (
        "suspended/reconciliation_required",
        "tool_effect",
        1,
    )
    place = DurablePlace(world.driving.folder, "somebody", sync=False)
    decide(place, world.driving.stage.clock, "retry")
    played = world.driving.drive(actor=world.actor(), change=CHANGE)
    assert (played.ending, world.comments, len(set(world.keys)), len(world.keys)) == (PASSED, 1, 1, 2)


def test_what_is_not_declared_idempotent_gets_no_key_and_is_not_made_again(stage: Stage, tmp_path: Path) -> None:
    world = World(stage, tmp_path, Careless)
    with pytest.raises(Killed):
        world.driving.drive(actor=world.actor(), change=CHANGE, options=REPEAT)
    played = world.driving.drive(actor=world.actor(), change=CHANGE, options=REPEAT)
    assert played.receipt.outcome.name == "suspended/reconciliation_required"
    assert (world.comments, world.keys) == (1, [None])


def test_two_runs_of_one_scenario_have_keys_of_their_own(world: World, stage: Stage) -> None:
    """Else the second would be told the answer to the first, and do nothing."""
    world.deaths = 0
    world.registry.call("create", {"id": "a", "title": "First"}, timeout_s=1.0)
    for runs in (1, 2):
        stage.play(actor=world.actor(), change={**CHANGE, "workspace": {"prepare": []}})
        assert (world.comments, len(set(world.keys))) == (runs, runs)
