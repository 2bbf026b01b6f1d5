"""A key that receipts would hold anyway is refused before anything is paid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy import IDENTITY, SCENARIO

from harness import wiring
from harness.errors import UsageError
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import digest_json
from harness.schema.run import EpisodeJob
from harness.schema.scenario import LoadedScenario, Scenario

VALUES = {"values": {"file": "notes/a.json", "goal": "portfolio-goal"}}
BOUNDARY = {"boundary": {"plane_writes": ["runtime/goals/{goal}/rollout-event-log.jsonl"]}}


@pytest.fixture
def job() -> EpisodeJob:
    scenario = Scenario.model_validate_json(json.dumps({**SCENARIO, **VALUES, **BOUNDARY}))
    identity = ActorIdentity(ref="openai/m", kind="live", digest=digest_json("m"))
    return EpisodeJob(
        loaded=LoadedScenario(scenario=scenario, digest=digest_json("s"), path="x.toml"),
        actor=ActorSpec(identity=identity, key_env="SOME_KEY"),
        plane=IDENTITY,
    )


@pytest.mark.parametrize(
    "key",
    ["portfolio-goal", "runtime/goals", "rollout-event-log", "goals/portfolio", "read_before_ask", "notes/a.json"],
)
def test_a_key_that_receipts_may_hold_is_refused_by_its_variable(job: EpisodeJob, tmp_path: Path, key: str) -> None:
    place = wiring.settings({"SOME_KEY": key, "PATH": "/bin"}, tmp_path)
    with pytest.raises(UsageError, match="the key in SOME_KEY is an ordinary text") as caught:
        wiring.refuse_ordinary_keys(place, [job])
    assert key not in str(caught.value)


def test_a_real_key_is_taken(job: EpisodeJob, tmp_path: Path) -> None:
    place = wiring.settings({"SOME_KEY": "sk-4f9d8e7c6b5a", "PATH": "/bin"}, tmp_path)
    wiring.refuse_ordinary_keys(place, [job])
