"""Episodes that cannot be gone on with for what lies on disk of them: told in a line, and played anew when asked."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pytest

from harness.receipt import read_run
from harness.schema.message import Usage
from harness.schema.outcome import Outcome
from harness.schema.run import AttemptRow, EpisodeJob, EpisodeResult
from harness.wiring.waiting import durable_place

ACTOR = "openai-compatible/m@http://127.0.0.1:1"
PROBLEM = "journal_integrity_mismatch: line 7 of its journal is not what was written"


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    jobs: list[EpisodeJob]
    is_new: bool | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


def damaged(result: EpisodeResult) -> EpisodeResult:
    """As the loop tells it."""
    outcome = Outcome(status="rejected", reason="journal_integrity_mismatch")
    receipt = result.receipt.model_copy(update={"outcome": outcome, "verdict": "not_judged", "cause": "harness"})
    row = AttemptRow(
        operation="turn-1/main",
        attempt=1,
        status="completed",
        usage=Usage(input_tokens=5, output_tokens=2),
        seconds=0.0,
        cost_micro_usd=Decimal(26),
    )
    told = {"resumable": True, "recovery_class": "reconciliation_required", "at_least": True, "problem": PROBLEM}
    return EpisodeResult(receipt=receipt, log=result.log.model_copy(update={**told, "attempts": (row,)}))


@pytest.fixture
def journal(harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That of an episode of a run which could not be gone on with."""

    def play(job: EpisodeJob) -> EpisodeResult:
        made = world.result(job)
        return damaged(made) if job.loaded.scenario.id == "pack/a" and job.attempt == 1 else made

    monkeypatch.setattr(world, "episode", play)
    code, out, err = harness("run", "--actor", ACTOR, "--yes-spend", "--out", "out")
    assert (code, err.count("\n")) == (2, 1), err
    assert f"harness: episode 1 (pack/a) cannot be gone on with: {PROBLEM}; spent on it: >= $0.000026" in err
    assert "harness run --resume out --replay-damaged --yes-spend" in err
    assert "cost: >= $0.000026 (>= 1 model call: 1 journal damaged)" in out
    key = read_run(Path("out")).receipts[0].key
    place = durable_place(Path("out/episodes"), key).folder
    (place / "spool").mkdir(parents=True)
    (place / "journal.jsonl").write_bytes(b"damaged")
    return place / "journal.jsonl"


def test_it_is_looked_at_again_by_every_resume_and_stays(harness: Harness, world: World, journal: Path) -> None:
    world.jobs.clear()
    code, _, err = harness("run", "--resume", "out", "--yes-spend")
    assert code == 2
    assert "cannot be gone on with" in err
    assert [(job.loaded.scenario.id, job.attempt, job.pays_again) for job in world.jobs] == [("pack/a", 1, False)]
    assert journal.read_bytes() == b"damaged"


def test_it_is_played_anew_when_asked_its_journal_is_kept_and_its_bill_stays(
    harness: Harness, world: World, journal: Path
) -> None:
    world.jobs.clear()
    code, out, err = harness("run", "--resume", "out", "--replay-damaged", "--yes-spend")
    assert code == 0, err
    assert [(job.attempt, job.pays_again) for job in world.jobs] == [(2, True)]
    (kept,) = Path("out/damaged").iterdir()
    assert kept.read_bytes() == b"damaged"
    assert kept.name.startswith("pack--a-t1-a1-")
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert f"is kept as {kept}" in err
    assert not journal.parent.exists()
    assert "cost: >= $0.000026 (>= 1 model call: 1 journal damaged)" in out
    view = read_run(Path("out"))
    rows = zip(view.receipts, view.log, strict=True)
    entries = {(one.attempt, log.recovery) for one, log in rows if one.scenario == "pack/a"}
    assert entries == {(1, ("set_aside",)), (2, ())}
    world.jobs.clear()
    assert harness("run", "--resume", "out", "--yes-spend")[0] == 0
    assert (world.jobs, kept.exists()) == ([], True)


def test_one_that_was_killed_before_it_was_played_anew_is_so_without_being_asked_again(
    harness: Harness, world: World, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: EpisodeJob) -> EpisodeResult:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(world, "episode", killed)
        harness("run", "--resume", "out", "--replay-damaged", "--yes-spend")
    world.jobs.clear()
    assert harness("run", "--resume", "out", "--yes-spend")[0] == 0
    assert [(job.attempt, job.pays_again) for job in world.jobs] == [(2, True)]


@pytest.mark.parametrize("left", [("journal.jsonl", "spool/a"), ("spool/a",), ("lease.lock",), ()])
@pytest.mark.parametrize("finished", [True, False], ids=["a finished run", "a killed one"])
def test_what_a_kill_left_of_a_finished_episode_is_no_damage_and_goes_when_the_run_is_gone_on_with(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch, left: tuple[str, ...], finished: bool
) -> None:
    if not finished:
        monkeypatch.setattr("harness.receipt.RunStore.finish", lambda *_: None)
    harness("run", "--actor", ACTOR, "--yes-spend", "--out", "out")
    places = [durable_place(Path("out/episodes"), one.key).folder for one in read_run(Path("out")).receipts]
    for place in places:
        place.mkdir(parents=True)
        for name in left:
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_bytes(b"text")
    assert harness("verify", "out")[0] == (0 if finished else 2)
    world.jobs.clear()
    assert harness("run", "--resume", "out", "--yes-spend")[0] == 0
    assert (world.jobs, [place for place in places if place.exists()]) == ([], [])
    assert not Path("out/episodes").exists()


def test_what_is_left_of_an_episode_that_just_began_is_no_damage(harness: Harness, world: World) -> None:
    harness("run", "--out", "out")
    place = Path("out/episodes/abc")
    place.mkdir(parents=True)
    (place / "lease.lock").touch()
    assert (harness("verify", "out")[0], world.jobs[0].attempt) == (0, 1)
    (place / "states").mkdir()
    code, out, _ = harness("verify", "out")
    assert (code, "episodes/abc/journal.jsonl: is not there" in out) == (1, True)


def test_without_a_run_to_go_on_with_the_option_is_refused(harness: Harness, world: World) -> None:
    code, _, err = harness("run", "--replay-damaged")
    assert (code, err.count("\n")) == (4, 1)
    assert "--replay-damaged goes beside --resume RUN" in err


def test_only_a_run_that_begins_refuses_episodes_that_are_there(harness: Harness, world: World) -> None:
    harness("run", "--out", "out")
    begun = world.is_new
    harness("run", "--resume", "out")
    assert (begun, world.is_new) == (True, False)


def test_one_that_another_version_wrote_is_told_with_all_that_can_be_done(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing has to be put right there: it goes on with that version, is given up, or is played anew."""

    def play(job: EpisodeJob) -> EpisodeResult:
        made = damaged(world.result(job))
        outcome = Outcome(status="rejected", reason="journal_version_unsupported")
        return made.model_copy(update={"receipt": made.receipt.model_copy(update={"outcome": outcome})})

    monkeypatch.setattr(world, "episode", play)
    code, _, err = harness("run", "pack/a", "--actor", ACTOR, "--yes-spend", "--out", "out")
    assert (code, err.count("\n")) == (2, 1)
    assert "go on with the version of harness that wrote it, give it up: harness history purge out, or play it" in err
    assert err.endswith("harness run --resume out --replay-damaged --yes-spend\n")
