"""A recording whose episode was killed is gone on with; what is kept is that of one that never was."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import pytest
import recorded as rec
from toy import IDENTITY, SCENARIO

from harness.recording import Keeper, Leftover, RecordingWriter, load
from harness.redaction import Scrubber, SecretGuard
from harness.schema.actor import ActorSpec
from harness.schema.base import digest_json
from harness.schema.recording import Exchange, PlaneAnswer, RecordingHeader
from harness.schema.run import AttemptRow, EpisodeJob
from harness.schema.scenario import LoadedScenario, Scenario

PROMPT, TOOLS = digest_json("prompt"), digest_json("tools")
ASKED = [rec.exchange(number, {"q": number}) for number in (1, 2, 3)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pack" / "a" / "m.jsonl"


def keeper(path: Path, digest: str = "sha256:1") -> Keeper:
    """A driver's."""

    def writer(header: RecordingHeader) -> RecordingWriter:
        return RecordingWriter(path, header, SecretGuard())

    loaded = LoadedScenario(
        scenario=Scenario.model_validate_json(json.dumps(SCENARIO)), digest=digest_json(digest), path="x.toml"
    )
    job = EpisodeJob(loaded=loaded, actor=ActorSpec(identity=rec.ACTOR), plane=IDENTITY)
    return Keeper(
        job, writer, scrubber=Scrubber(), provenance=None, classifier_version=1, before=lambda: Leftover(path)
    )


def answer(step: int) -> PlaneAnswer:
    return PlaneAnswer(step=step, kind=None, exit_code=0, answer={"a": step}, key="sha256:0")


def plays(driver: Keeper, asked: Sequence[Exchange], answers: Sequence[int] = ()) -> Keeper:
    """From its start: what is asked, and every answer of the control plane."""
    driver.opened(PROMPT, TOOLS)
    for one in asked:
        driver.exchanged(one)
    for step in answers:
        driver.answered(answer(step))
    return driver


Status = Literal["completed", "failed", "unknown", "not_sent"]


def rows(*statuses: Status) -> list[AttemptRow]:
    return [
        AttemptRow(operation="turn-1/main", attempt=1, status=status, usage=None, seconds=0.0) for status in statuses
    ]


def settled(driver: Keeper, *statuses: Status, keep: bool = True) -> bool:
    return driver.settle(keep=keep, went_on=True, attempts=rows(*statuses))


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    """The recording of an episode that nobody killed."""
    path = tmp_path / "whole.jsonl"
    assert plays(keeper(path), ASKED, (1, 2)).settle(keep=True)
    return path.read_bytes()


def left(path: Path) -> list[str]:
    return sorted(one.name for one in path.parent.iterdir())


def test_it_goes_on_where_it_was_and_is_as_one_that_was_never_cut_off(path: Path, whole: bytes) -> None:
    plays(keeper(path), ASKED[:1], (1,)).abandon()
    plays(keeper(path), [rec.exchange(1, {"q": 2})], (1,)).abandon()
    last = plays(keeper(path), [rec.exchange(1, {"q": 3})], (1, 2))
    assert settled(last, "completed", "completed", "completed")
    assert path.read_bytes() == whole
    assert left(path) == ["m.jsonl"]


def test_an_answer_that_its_driver_did_not_live_to_read_is_not_in_it(path: Path, whole: bytes) -> None:
    plays(keeper(path), ASKED[:2]).abandon()
    last = plays(keeper(path), [rec.exchange(1, {"q": 2}), rec.exchange(2, {"q": 3})], (1, 2))
    assert settled(last, "completed", "unknown", "completed", "completed")
    assert path.read_bytes() == whole


def test_a_refusal_before_the_same_question_is_in_it(path: Path) -> None:
    busy = rec.exchange(1, {"q": 1})
    busy = busy.model_copy(update={"response": busy.response.model_copy(update={"status": 429})})
    plays(keeper(path), [busy]).abandon()
    assert settled(plays(keeper(path), ASKED[:1]), "failed", "completed")
    assert [one.response.status for one in load(path).exchanges] == [429, 200]


def test_one_that_ended_before_its_driver_was_killed_is_put_in_its_place(path: Path, whole: bytes) -> None:
    plays(keeper(path), ASKED, (1, 2)).abandon()
    assert keeper(path).settle(keep=True, attempts=rows("completed", "completed", "completed"))
    assert (path.read_bytes(), left(path)) == (whole, ["m.jsonl"])
    path.with_name("m.jsonl.partial").write_bytes(whole[:-20])
    assert keeper(path).settle(keep=True, attempts=rows("completed", "completed", "completed"))
    assert (path.read_bytes(), left(path)) == (whole, ["m.jsonl"])


@pytest.mark.parametrize(
    "loses",
    [lambda half: half.unlink(), lambda half: half.write_bytes(b"torn"), lambda half: half.write_bytes(b"")],
    ids=["gone", "torn", "empty"],
)
def test_where_a_part_of_it_is_lost_it_is_not_kept_and_that_is_said(path: Path, loses: Callable[[Path], None]) -> None:
    plays(keeper(path), ASKED[:1]).abandon()
    loses(path.with_name("m.jsonl.partial"))
    assert not settled(plays(keeper(path), ASKED[1:]), "completed", "completed", "completed")
    assert not settled(plays(keeper(path), []), "completed")
    assert left(path) == []


def test_what_a_changed_episode_left_is_removed_and_not_taken_over(path: Path) -> None:
    plays(keeper(path), ASKED[:1]).abandon()
    assert settled(plays(keeper(path, "sha256:2"), ASKED[1:]), "completed", "completed")
    assert [one.request.body for one in load(path).exchanges] == [{"q": 2}, {"q": 3}]


def test_one_that_is_not_to_be_kept_leaves_nothing(path: Path) -> None:
    plays(keeper(path), ASKED[:1]).abandon()
    assert settled(plays(keeper(path), ASKED[1:]), "completed", "completed", "completed", keep=False)
    assert left(path) == []
