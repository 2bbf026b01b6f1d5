"""How the loop stopped and what it proves are different things."""

from __future__ import annotations

from typing import get_args

import pytest
from toy import ReplyActor, Stage, answer, called, said

from harness.episode.boundary import allowed_by
from harness.episode.verdict import NOT_JUDGED, default_cause, default_verdict
from harness.schema.base import JsonValue
from harness.schema.outcome import REASONS, Outcome, Status
from harness.schema.process import Completed
from harness.workspace import Workspace

ALL = [
    Outcome.model_validate({"status": status, "reason": reason})
    for status in get_args(Status)
    for reason in REASONS[status]
]


@pytest.mark.parametrize("outcome", ALL, ids=lambda outcome: outcome.name)
def test_every_ending_of_the_taxonomy_has_a_verdict_and_a_cause(outcome: Outcome) -> None:
    verdict = default_verdict(outcome, live=True)
    assert verdict in {"fail", "not_judged", "pending"}
    assert default_cause(outcome, verdict) in {"model", "scenario", "control_plane", "provider", "harness"}
    if outcome.reason in NOT_JUDGED and outcome.status != "suspended":
        assert verdict == "not_judged"


@pytest.mark.parametrize("reason", ["model_error", "script_exhausted", "tool_error", "storage_error", "setup_rejected"])
def test_outages_and_faults_of_the_harness_never_count_against_the_model(reason: str) -> None:
    assert reason in NOT_JUDGED


def test_a_scenario_may_expect_an_ending_and_turn_it_into_a_pass(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"outcomes": {"completed/final_response": {"verdict": "pass"}}}
    played = stage.play(actor=ReplyActor([said("I will not do that.")]), change=change)
    assert played.ending == ("completed/final_response", "pass", None)


def test_a_scenario_may_name_an_ending_its_own_way(stage: Stage) -> None:
    change: dict[str, JsonValue] = {
        "outcomes": {"failed/model_refusal": {"code": "refused_to_work", "verdict": "not_judged", "cause": "scenario"}}
    }
    played = stage.play(actor=ReplyActor([said("No.", finish="refusal")]), change=change)
    assert (played.ending, played.receipt.cause) == (
        ("failed/model_refusal", "not_judged", "refused_to_work"),
        "scenario",
    )


def test_a_violation_may_be_renamed_as_a_whole(stage: Stage) -> None:
    change: dict[str, JsonValue] = {"outcomes": {"failed/scenario_violation": "broke_a_rule"}}
    played = stage.play(("touch x",), change=change)
    assert played.receipt.failure_code == "broke_a_rule"
    assert played.receipt.steps[0].code == "unexpected_command"


def test_silence_after_all_facts_is_a_pass(stage: Stage) -> None:
    """A scenario whose facts are all there passes however the loop ended."""
    change: dict[str, JsonValue] = {"end": {"accept": ["asked"]}}
    actor = ReplyActor([said("", called("toy ask plane")), said("unused")])
    assert stage.play(actor=actor, change=change).receipt.verdict == "pass"


@pytest.mark.parametrize(
    ("path", "directory", "expected"),
    [
        ("runtime/a.txt", False, True),
        ("runtime/log/x", False, True),
        ("runtime/log/deep/x", False, True),
        ("runtime/log", True, True),
        ("runtime", True, True),
        ("runtime", False, False),
        ("runtime/logs/x", False, False),
        ("runtime/a.txt.bak", False, False),
        ("project/a.txt", False, False),
    ],
)
def test_what_may_change_is_a_path_a_folder_or_on_the_way_to_one(path: str, directory: bool, expected: bool) -> None:
    assert bool(allowed_by(path, ("runtime/a.txt", "runtime/log/**"), directory=directory)) is expected


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("runtime/runs/2026-slot.json", "runtime/runs/*-slot.json"),
        ("runtime/runs/2026.json", "runtime/runs/*.json"),
        ("runtime/runs/2026.md", None),
        ("runtime/runs/deep/2026.json", None),
        ("runtime/2026.json", None),
        ("runtime/runs/2026xjson", None),
    ],
)
def test_a_star_stands_for_anything_in_the_name_of_a_file(path: str, found: str | None) -> None:
    patterns = ("runtime/runs/*-slot.json", "runtime/runs/*.json")
    assert allowed_by(path, patterns, directory=False) == found


def test_a_file_whose_name_is_a_time_is_told_by_its_pattern(stage: Stage) -> None:
    """Two runs at two times have one receipt."""

    def told(name: str) -> list[tuple[str, bool]]:
        def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
            for last in ("-a.json", ".json"):
                file = workspace.roots["runtime"] / "runs" / f"{name}{last}"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("{}")
            return answer(workspace, args)

        allowed: JsonValue = ["runtime/runs/*-a.json", "runtime/runs/*.json"]
        played = stage.play(says=says, change={"boundary": {"plane_writes": allowed}})
        return [(str(change.path), change.allowed) for change in played.receipt.boundary.changes]

    runs = ["runtime", "runtime/runs", "runtime/runs/*-a.json", "runtime/runs/*.json"]
    assert told("2026") == [(path, True) for path in runs]
