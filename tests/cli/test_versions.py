"""``--plane``: one run on several versions of a control plane, cut, gone on with and put together like any other."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Protocol

import pytest
from planned import job_of, loaded_of, receipt_of
from stopping import stopped

from harness import wiring
from harness.cli.going_on import name_of, numbered, steady
from harness.cli.spoken_to import spoken_to
from harness.cli.versions import planes_of
from harness.errors import UsageError
from harness.receipt import read_manifest, read_run
from harness.recording import chosen
from harness.schema.outcome import Outcome
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.wiring.recordings import keeping, place_in_run, place_of

OLD, NEW, NEWEST = "loopx==0.4.8", "loopx==1.4.2", "loopx==2.1.1"
ALL = "loopx==0.4.8,1.4.2,2.1.1"


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    jobs: list[EpisodeJob]
    planes: tuple[str, ...]
    episode: Callable[[EpisodeJob], EpisodeResult] | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


@pytest.fixture(autouse=True)
def three(world: World) -> None:
    world.planes = (OLD, NEW, NEWEST)


def played(world: World) -> list[tuple[str, str, int]]:
    return [(job.loaded.scenario.id, job.plane.ref, job.trial) for job in world.jobs]


@pytest.mark.parametrize("given", [("--plane", ALL), ("--plane", OLD, "--plane", "loopx==1.4.2,2.1.1")])
def test_every_scenario_is_played_on_every_version_as_given(
    harness: Harness, world: World, given: tuple[str, ...]
) -> None:
    assert harness("run", *given, "-n", "1", "--out", "out")[0] == 0
    assert played(world) == [(name, ref, 1) for name in ("pack/a", "pack/b") for ref in (OLD, NEW, NEWEST)]
    view = read_run(Path("out"))
    assert [receipt.plane.ref for receipt in view.receipts] == [OLD, NEW, NEWEST] * 2
    assert (view.manifest.in_versions, [one.plane for one in view.manifest.scenarios]) == (
        frozenset({"loopx"}),
        [OLD, OLD],
    )
    assert harness("verify", "out")[0] == 0


def test_one_version_goes_over_that_of_the_scenarios(harness: Harness, world: World) -> None:
    assert harness("run", "pack/a", "--plane", NEWEST, "--out", "out")[0] == 0
    assert played(world) == [("pack/a", NEWEST, 1)]
    assert read_manifest(Path("out")).in_versions == frozenset()


def test_all_versions_that_are_missing_are_told_at_once_with_the_lines_to_type(harness: Harness, world: World) -> None:
    world.planes = (OLD,)
    code, out, err = harness("run", "--plane", ALL)
    assert (code, out, world.jobs, err.count("\n")) == (4, "", [], 1)
    assert err.endswith(f"; type: harness plane install {NEW} && harness plane install {NEWEST}\n")
    assert f"{NEW} is not installed under " in err
    code, _, err = harness("run", "--plane", "loopx==0.4.8,9")
    assert (code, err.endswith("is not installed under " + err.split(" under ")[1])) == (4, True)
    assert err.endswith("type: harness plane install loopx==9\n")
    assert not Path("reports").exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("loopx==0.4.8,0.4.8",), "loopx==0.4.8 is given twice"),
        ((ALL, NEW), "loopx==1.4.2 is given twice"),
        (("loopx==",), "does not name a control plane; write NAME==VERSION"),
        (("loopx",), "does not name a control plane; write NAME==VERSION"),
        (("loopx==1,,2",), "does not name a control plane; write NAME==VERSION"),
        (("other==1",), "unknown control plane 'other'"),
        (("registry==1",), "registry is part of harness and has one version"),
    ],
)
def test_what_names_no_versions_is_one_line(harness: Harness, world: World, given: tuple[str, ...], told: str) -> None:
    code, _, err = harness("run", *(word for text in given for word in ("--plane", text)))
    assert (code, err.count("\n"), world.jobs) == (4, 1, [])
    assert told in err


def test_a_plane_on_which_nothing_is_played_is_refused(world: World) -> None:
    told = "no chosen scenario is played on loopx, only on plane; leave it out"
    with pytest.raises(UsageError, match=told):
        planes_of(wiring.settings(), [loaded_of("pack/a")], [NEW])


def test_recordings_that_a_run_keeps_of_one_model_on_two_versions_have_places_of_their_own(
    harness: Harness, world: World, tmp_path: Path
) -> None:
    assert harness("run", "pack/a", "--plane", ALL, "--trials", "2", "--out", "out")[0] == 0
    run = tmp_path / "out"
    several = read_manifest(run).in_versions
    kept = keeping(wiring.settings(), [], run / "recordings", "all", in_versions=several)
    live = [
        job_of("pack/a", live=True).model_copy(update={"plane": job.plane, "trial": job.trial}) for job in world.jobs
    ]
    places = [place_of(job, kept) for job in live]
    assert len(set(places)) == len(places) == 6
    outcome = Outcome(status="completed", reason="final_response")
    assert places == [place_in_run(run, receipt_of(job, "pass", outcome)) for job in live]
    # what somebody plays from there is found by the names that it had without a version too
    assert chosen(places[4:], "live--script") == tuple(places[4:])


def test_a_run_that_is_gone_on_with_keeps_its_versions(harness: Harness, world: World) -> None:
    stopped(harness, world, "--plane", ALL)
    plan = read_manifest(Path("out")).plan
    code, _, err = harness("run", "--resume", "out", "--plane", OLD)
    assert code == 4
    assert "--resume takes scenarios, actors, planes, trials and settings from the run" in err
    assert harness("run", "--resume", "out", "-n", "1")[0] == 0
    assert played(world) == [("pack/a", ref, 1) for ref in (NEW, NEWEST)] + [
        ("pack/b", ref, 1) for ref in (OLD, NEW, NEWEST)
    ]
    view = read_run(Path("out"))
    assert (view.manifest.plan, view.manifest.state, len(view.receipts)) == (plan, "complete", 6)


def test_of_a_run_that_is_gone_on_with_all_versions_that_are_gone_are_told(harness: Harness, world: World) -> None:
    stopped(harness, world, "--plane", ALL)
    world.planes = (OLD,)
    code, _, err = harness("run", "--resume", "out")
    assert code == 4
    assert err.endswith(f"type: harness plane install {NEW} && harness plane install {NEWEST}\n")


def test_shards_of_several_versions_are_put_together_to_the_run_that_was_never_cut(
    harness: Harness, world: World
) -> None:
    assert harness("run", "--plane", "loopx==0.4.8,2.1.1", "--out", "whole")[0] == 0
    for number in (1, 2):
        said = ("--plane", "loopx==0.4.8,2.1.1", "--shard", f"{number}/2", "--out", f"part{number}")
        assert harness("run", *said)[0] == 0
        manifest = read_manifest(Path(f"part{number}"))
        # each shard has one of the two only, and still tells them apart as its run does
        assert (len(manifest.planes), manifest.in_versions) == (1, frozenset({"loopx"}))
    code, _, err = harness("history", "merge", "part1", "--out", "less")
    assert code == 4
    assert "trial 1 of pack/a by script on loopx==2.1.1 is missing (and 1 more)" in err
    assert harness("history", "merge", "part2", "part1", "--out", "merged")[0] == 0
    one, other = Path("whole/receipts.jsonl").read_bytes(), Path("merged/receipts.jsonl").read_bytes()
    assert one == other
    assert read_manifest(Path("merged")).planes == read_manifest(Path("whole")).planes


def test_an_episode_is_called_by_its_version_where_there_are_several(harness: Harness, world: World) -> None:
    assert harness("run", "pack/a", "--plane", ALL, "--out", "out")[0] == 0
    view = read_run(Path("out"))
    names = [name_of(receipt, view.manifest.in_versions) for receipt in view.receipts]
    assert names == ["pack/a#1@script~0.4.8", "pack/a#1@script~1.4.2", "pack/a#1@script~2.1.1"]
    held: list[str] = []
    (said,) = spoken_to(view, Path("out"), [("--answer", names[1], lambda _: nullcontext(lambda: held.append("")))])
    assert said.number == 2
    with pytest.raises(UsageError, match="has no such episodes"):
        spoken_to(view, Path("out"), [("--answer", "pack/a#1@script", said.hold)])
    swapped = view.model_copy(update={"receipts": view.receipts[::-1]})
    assert [numbered(view, 1), numbered(swapped, 1), steady(swapped, 1)] == [True, False, names[2]]
    assert harness("run", "pack/a", "--plane", NEW, "--out", "one")[0] == 0
    (receipt,) = read_run(Path("one")).receipts
    assert name_of(receipt, read_manifest(Path("one")).in_versions) == "pack/a#1@script"


def test_a_dry_run_tells_the_version_of_every_episode(harness: Harness, world: World) -> None:
    lines = harness("run", "pack/a", "--plane", ALL, "--dry-run", "--format", "jsonl")[1].splitlines()
    assert [json.loads(line)["plane"] for line in lines] == [OLD, NEW, NEWEST]
    assert world.jobs == []


@pytest.mark.parametrize("text", ["2.1.1", "loopx", "loopx=2.1.1"])
def test_what_names_no_version_is_refused_as_it_was_typed(harness: Harness, text: str) -> None:
    code, _, err = harness("run", "--plane", text)
    assert (code, err.count("\n")) == (4, 1)
    assert err.startswith(f"harness: {text!r} does not name a control plane; write NAME==VERSION")
