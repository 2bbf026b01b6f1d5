"""Classifiers are shown what was measured, once the episode is over, and what they find has a code of the scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from toy import Played, ReplyActor, Stage, called, said

from harness.controlplanes.registry import OPERATIONS, RegistryPlane, open_plane
from harness.controlplanes.registry.plane import FILE
from harness.errors import CatalogError
from harness.ports import ControlPlane
from harness.schema.base import JsonValue
from harness.schema.classifier import Evidence, ReceivedCall, Violation
from harness.schema.judging import Classifier
from harness.schema.tool import ToolCall
from harness.wiring.judges import CLASSIFIERS
from harness.workspace import Workspace

ASK, READ, BAD = "toy ask plane", "cat notes/a.json", "toy ask plane --unknown x"


class Judge(Classifier):
    """Says what it is told to, and keeps what it was shown."""

    grounds: ClassVar[tuple[str, ...]] = ("odd",)
    seen: ClassVar[list[Evidence]] = []
    files: ClassVar[list[str | None]] = []

    says: str = "[]"
    wanted: tuple[str, ...] = ()

    def phrases(self) -> Sequence[str]:
        """What it wants, in words."""
        return [f"wanted {one}" for one in self.wanted]

    def classify(self, evidence: Evidence) -> Sequence[Violation]:
        """What its settings say."""
        self.seen.append(evidence)
        self.files[:] = [evidence.file("project/b.json"), evidence.file("project/none")]
        return [Violation(**{**one, "steps": tuple(one.get("steps", ()))}) for one in json.loads(self.says)]


class Broken(Classifier):
    """Cannot judge."""

    def classify(self, evidence: Evidence) -> Sequence[Violation]:
        """Raises, with a text that nobody may see."""
        raise RuntimeError(f"kanari-kanari {evidence.text}")


@dataclass
class Two:
    """The classifiers of these tests."""

    kinds: dict[str, type[Classifier]] = field(default_factory=lambda: {"judge": Judge, "broken": Broken})

    def names(self) -> Sequence[str]:
        return tuple(self.kinds)

    def find(self, name: str) -> type[Classifier]:
        if name not in self.kinds:
            raise CatalogError("classifier", name, tuple(self.kinds))
        return self.kinds[name]


@pytest.fixture
def stage(stage: Stage) -> Iterator[Stage]:
    stage.classifiers = Two()
    yield stage
    Judge.seen.clear()  # evidence reads files by the world, which is to be free


def play(stage: Stage, *specs: JsonValue, actor: ReplyActor | None = None) -> Played:
    """An episode that passes by its rules, judged by these."""
    replies = [said("", called(ASK, id_="c1")), said("", called(READ, id_="c2")), said('{"a": 41}')]
    return stage.play(actor=actor or ReplyActor([*replies]), change={"classify": list(specs)})


def judge(*violations: dict[str, JsonValue], **more: JsonValue) -> JsonValue:
    settings: JsonValue = {"says": json.dumps(violations), "wanted": more.pop("wanted", ["all"])}
    return {"by": "judge", "code": "judged", "settings": settings, **more}


def test_one_that_finds_nothing_changes_nothing(stage: Stage) -> None:
    played = play(stage, judge())
    assert played.ending == ("completed/final_response", "pass", None)
    assert played.receipt.findings == ()


def test_what_it_finds_fails_the_episode_and_is_told_by_kinds_and_steps_only(stage: Stage) -> None:
    played = play(
        stage, judge({"steps": [2, 1], "expected": "wanted all"}, {"steps": [1], "expected": "said by nobody"})
    )
    assert played.ending == ("completed/final_response", "fail", "judged")
    assert played.receipt.cause == "model"
    first, second = played.receipt.findings
    assert (first.check, first.step, first.expected, first.got) == (
        "classifier",
        2,
        '"wanted all"',
        "ask at step 1, read at step 2",
    )
    assert (second.expected or "").startswith("text of 14 characters, sha256:")


def test_a_ground_has_its_own_code_and_the_first_violation_of_the_file_counts(stage: Stage) -> None:
    odd = judge({"ground": "odd"}, {}, codes={"odd": "oddly"})
    assert play(stage, judge(), odd, judge({}, code="later")).receipt.failure_code == "oddly"


def test_numbers_of_an_answer_are_not_shown_and_those_of_the_state_are(stage: Stage) -> None:
    said_: dict[str, JsonValue] = {"pointer": "/answer/a", "got": 41}
    held: dict[str, JsonValue] = {"pointer": "/state/a", "got": 42}
    spec = judge(said_, {"got": 43}, held, wanted=["/answer/a", "/state/a"])
    shown = [finding.got for finding in play(stage, spec).receipt.findings]
    assert shown == ['"a value with a number"', '"a value with a number"', "42"]


def test_one_that_raises_judges_nothing_and_its_words_reach_nobody(stage: Stage) -> None:
    played = play(stage, {"by": "broken", "code": "broken"})
    assert played.ending == ("completed/final_response", "not_judged", "classifier_failed")
    assert played.receipt.cause == "harness"
    assert played.result.log.problem == "the classifier 'broken' raised RuntimeError"
    assert "kanari" not in played.result.model_dump_json()


@pytest.mark.parametrize(
    "violation",
    [{"steps": [3]}, {"steps": [0]}, {"pointer": "/answer/kanari"}],
    ids=["no such step", "step 0", "a pointer of nobody"],
)
def test_one_that_says_what_none_may_say_judges_nothing(stage: Stage, violation: dict[str, JsonValue]) -> None:
    played = play(stage, judge(violation))
    assert played.ending[1:] == ("not_judged", "classifier_failed")
    assert "kanari" not in played.receipt.model_dump_json()


def test_a_failed_episode_is_shown_only_to_those_that_ask_for_it_and_keeps_its_code(stage: Stage) -> None:
    silent = ReplyActor([said("", called(ASK)), said("Done.")])
    played = play(stage, judge({}), judge({"steps": [1]}, when="judged", code="beside"), actor=silent)
    assert played.ending[1:] == ("fail", "stopped_early")
    assert [finding.code for finding in played.receipt.findings] == ["stopped_early", "beside"]
    assert len(Judge.seen) == 1


def test_a_failed_episode_stays_failed_where_one_of_them_raises(stage: Stage) -> None:
    silent = ReplyActor([said("", called(ASK)), said("Done.")])
    played = play(stage, {"by": "broken", "code": "broken", "when": "judged"}, actor=silent)
    assert played.ending[1:] == ("fail", "stopped_early")


def test_it_is_shown_what_was_said_what_became_of_each_call_and_what_was_written(stage: Stage) -> None:
    replies = [
        said("", called(ASK, id_="c1"), called("rm x", name="other", id_="c2")),
        said("", called("ls missing", id_="c3"), called(READ, id_="c4")),
        said('{"a": 41}'),
    ]
    play(stage, judge(), actor=ReplyActor([*replies]))
    (seen,) = Judge.seen
    assert [(call.step, call.turn, call.kind, call.became) for call in seen.calls] == [
        (1, 1, "ask", "executed"),
        (2, 1, None, "blocked"),
        (3, 2, "look", "failed"),
        (4, 2, "read", "executed"),
    ]
    ask = seen.calls[0]
    assert (ask.command, ask.arguments, ask.reached_plane) == (ASK, {"cmd": ASK}, True)
    assert ask.answer == {"target": "notes/a.json", "stamp": 17}
    assert (seen.facts, seen.document, seen.text) == (("asked", "done"), {"answer": {"a": 41}}, '{"a": 41}')
    assert Judge.files == ["{}", None]


def test_accepted_facts_alone_do_not_end_what_a_classifier_is_to_see(stage: Stage) -> None:
    assert play(stage, judge()).receipt.counters.model_turns == 3


def test_another_version_of_one_is_another_version_of_the_judge(stage: Stage) -> None:
    stage.judged_by = {"judge": 3}
    assert play(stage, judge()).receipt.classifier_version == 3


class Forgetful(RegistryPlane):
    """Loses the last call that it was called for."""

    def received(self) -> tuple[ReceivedCall, ...]:
        return super().received()[:-1]


CHANGE: dict[str, JsonValue] = {
    "workspace": {
        "prepare": [
            {"plane": ["create", '{"id": "a", "title": "A"}']},
            {"plane": ["create", '{"id": "b", "title": "B"}']},
        ]
    },
    "prompt": {"user": "Comment on a.", "must_contain": []},
    "tool": {"comment": {"operation": "comment"}},
    "kind": [{"name": "ask", "call": ["ask plane"]}, {"name": "comment", "tool": "comment", "sets": "said"}],
    "end": {"accept": ["said"], "silence": [{"code": "did_nothing"}]},
    "check": [],
    "boundary": {"plane_writes": ["project/registry.sqlite"]},
}


@pytest.mark.parametrize(
    ("spec", "plane", "on", "found"),
    [
        (("two_sided", {}), RegistryPlane, "a", None),
        (("two_sided", {}), Forgetful, "a", ("control_plane", None, '"a call in the log of the control plane"')),
        (("state", {"only": ["/tasks/a"]}), RegistryPlane, "a", None),
        (("state", {"only": ["/tasks/a"]}), RegistryPlane, "b", ("model", "/state/tasks/b/comments", '"unchanged"')),
    ],
)
def test_those_of_ours_see_what_a_real_control_plane_got_and_held(
    stage: Stage,
    spec: tuple[str, JsonValue],
    plane: type[RegistryPlane],
    on: str,
    found: tuple[str, str | None, str] | None,
) -> None:
    def opens(workspace: Workspace) -> ControlPlane:
        open_plane(workspace.cwd)
        return plane(workspace.cwd / FILE)

    stage.opens, stage.operations, stage.classifiers = opens, OPERATIONS, CLASSIFIERS
    arguments: dict[str, JsonValue] = {"id": on, "agent": "north", "text": "kanari"}
    call = ToolCall(id="c", name="comment", arguments_raw=json.dumps(arguments), arguments=arguments)
    asked: JsonValue = [{"by": spec[0], "code": "wrong", "settings": spec[1]}]
    change: dict[str, JsonValue] = {**CHANGE, "classify": asked}
    played = stage.play(actor=ReplyActor([said("", call), said("Done.")]), change=change)
    told = [(played.receipt.cause, one.pointer, one.expected) for one in played.receipt.findings]
    assert told[:1] == ([] if found is None else [found])
    assert "kanari" not in played.receipt.model_dump_json()
