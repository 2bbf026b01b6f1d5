from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, Self

import pytest

from harness import wiring
from harness.cli import check_recordings
from harness.cli.exit_codes import ExitCode
from harness.cli.progress import Progressing
from harness.errors import RecordingError, ScenarioError
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.check import CheckFinding, CheckReport, Coverage, DeepCount, DeepProbe, RecordingReport
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult
from harness.schema.scenario import LoadedScenario
from harness.schema.trace import EpisodeTrace
from harness.suite import Deep

Play = Callable[[LoadedScenario, ActorSpec], tuple[EpisodeResult, EpisodeTrace | None]]
FINDING = CheckFinding(scenario="pack/b", what="should pass, but: fail", where="script reference", todo="correct it")


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    names: tuple[str, ...]
    planes: tuple[str, ...]
    jobs: list[EpisodeJob]
    swept: int

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


def _report(name: str, *findings: CheckFinding) -> CheckReport:
    return CheckReport(
        scenario=name,
        scripts=4,
        kinds=Coverage(reached=1, total=1),
        facts=Coverage(reached=1, total=1),
        codes=Coverage(reached=2, total=3),
        mutations=61,
        red=60 if findings else 61,
        findings=findings,
    )


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """``pack/b`` has a finding."""

    def check_scenario(loaded: LoadedScenario, *, play: Play, deep: Deep, jobs: int) -> CheckReport:
        name = loaded.scenario.id
        return _report(name, *((FINDING,) if name == "pack/b" else ()))

    monkeypatch.setattr("harness.cli.check.check_scenario", check_scenario)


def test_a_sound_scenario_is_told_with_its_counts(harness: Harness, world: World, judged: None) -> None:
    code, out, err = harness("check", "pack/a")

    assert (code, err, world.swept) == (0, "", 1)
    assert out.splitlines() == [
        "fine  pack/a  4 scripts, kinds 1/1, facts 1/1, codes 2/3, 61 mutations, all red",
        "1 scenario is fine; no recording",
    ]


def test_a_finding_fails_the_check_and_says_what_to_do(harness: Harness, world: World, judged: None) -> None:
    code, out, _ = harness("check")

    assert code == 1
    assert out.splitlines() == [
        "fine  pack/a  4 scripts, kinds 1/1, facts 1/1, codes 2/3, 61 mutations, all red",
        "NOT FINE  pack/b  4 scripts, kinds 1/1, facts 1/1, codes 2/3, 61 mutations, 60 red",
        "  script reference:",
        "    should pass, but: fail",
        "    to do: correct it",
        "1 of 2 scenarios are fine; no recording",
    ]


def test_findings_that_say_the_same_are_told_once_with_every_place(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_scenario(loaded: LoadedScenario, *, play: Play, deep: Deep, jobs: int) -> CheckReport:
        other = FINDING.model_copy(update={"where": "script second"})
        code = CheckFinding(scenario="pack/b", what="no script reaches it", where="code x", todo="remove it")
        return _report(loaded.scenario.id, FINDING, code, other).model_copy(update={"mutations": 0, "red": 0})

    monkeypatch.setattr("harness.cli.check.check_scenario", check_scenario)

    assert harness("check", "pack/b")[1].splitlines() == [
        "NOT FINE  pack/b  4 scripts, kinds 1/1, facts 1/1, codes 2/3, no mutation",
        "  script reference, script second:",
        "    should pass, but: fail",
        "    to do: correct it",
        "  code x:",
        "    no script reaches it",
        "    to do: remove it",
        "0 of 1 scenario is fine; no recording",
    ]


def test_jsonl_is_one_scenario_a_line_and_json_one_object(harness: Harness, world: World, judged: None) -> None:
    lines = [json.loads(line) for line in harness("check", "--format", "jsonl")[1].splitlines()]

    assert [(line["scenario"], len(line["findings"])) for line in lines] == [("pack/a", 0), ("pack/b", 1)]
    assert json.loads(harness("check", "--format", "json")[1]) == {
        "scenarios": lines,
        "recordings": [],
        "uncovered": ["pack/a", "pack/b"],
        "strays": [],
        "broken": [],
        "to_do": [],
    }


@pytest.mark.parametrize(
    ("options", "deep"),
    [
        ((), Deep()),
        (("--mutate-script",), Deep(mutants=True)),
        (("--drop-fixtures",), Deep(fixtures=True)),
        (("--walk", "7"), Deep(walks=7)),
        (("--deep",), Deep(mutants=True, fixtures=True, walks=200)),
        (("--deep", "--walk", "7"), Deep(mutants=True, fixtures=True, walks=7)),
    ],
)
def test_what_is_asked_for_is_played_and_told_with_its_counts(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], deep: Deep
) -> None:
    asked: list[Deep] = []

    def check_scenario(loaded: LoadedScenario, *, play: Play, deep: Deep, jobs: int) -> CheckReport:
        asked.append(deep)
        counts: dict[DeepProbe, DeepCount] = {
            "mutants": DeepCount(played=9, noticed=4, same=3, declared=1, left_out=2),
            "walks": DeepCount(played=7),
        }
        return _report(loaded.scenario.id).model_copy(update={"deep": counts, "waived": 2})

    monkeypatch.setattr("harness.cli.check.check_scenario", check_scenario)
    lines = harness("check", "pack/a", *options)[1].splitlines()

    assert asked == [deep]
    assert lines[0].endswith("61 mutations, all red, 2 waived")
    assert lines[1:3] == [
        "  mutants: 9 played, 4 noticed, 3 the same in effect, 1 declared equivalent, 2 left out",
        "  walks: 7 played",
    ]


def test_walks_without_the_library_that_walks_are_one_line(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    code, out, err = harness("check", "--walk", "3")
    assert (code, out) == (4, "")
    assert err == "harness: walks need hypothesis; type: pip install 'behavior-harness[walk]'\n"


def test_unknown_scenario_empty_selection_and_missing_plane_have_their_codes(harness: Harness, world: World) -> None:
    assert harness("check", "pack/c")[0] == 4
    assert harness("check", "none/*")[0] == 5
    world.planes = ()
    assert harness("check")[0] == 4


def test_episodes_are_played_with_the_script_the_plane_and_the_executor(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[EpisodeJob] = []
    actor = ActorSpec(identity=ActorIdentity(ref="script:reference", kind="script", digest="sha256:a"))

    class Session:
        def __init__(self, place: object) -> None:
            del place

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            return

        def trace(self, job: EpisodeJob) -> tuple[EpisodeResult, None]:
            played.append(job)
            return world.result(job), None

    def check_scenario(loaded: LoadedScenario, *, play: Play, deep: Deep, jobs: int) -> CheckReport:
        assert play(loaded, actor)[0].receipt.scenario == loaded.scenario.id
        return _report(loaded.scenario.id)

    monkeypatch.setattr("harness.cli.check.check_scenario", check_scenario)
    monkeypatch.setattr("harness.wiring.Session", Session)

    assert harness("check", "pack/a", "--executor", "cold")[0] == 0

    (job,) = played
    assert (job.loaded.scenario.id, job.plane.ref, job.options.executor) == ("pack/a", "loopx==0.4.8", "cold")
    assert job.actor == actor


@pytest.mark.slow
@pytest.mark.plane
def test_the_bundled_scenarios_hold(harness: Harness, plane_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_HOME", str(plane_home))

    code, out, err = harness("check", "loopx/capability-repair", "loopx/selected-todo", "--format", "jsonl")

    assert (code, err) == (0, "")
    for line in out.splitlines():
        report = json.loads(line)
        if "recording" in report:
            assert report["drifts"] == []
        else:
            assert report["findings"] == []
            assert report["red"] == report["mutations"] > 50


def test_what_is_wrong_with_a_file_and_so_with_its_variants_is_told_once(
    harness: Harness, world: World, judged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(place: wiring.Settings, name: str) -> LoadedScenario:
        raise ScenarioError("pack/a.toml", "is no TOML", line=3)

    monkeypatch.setattr(wiring, "load_scenario", broken)
    world.names = ("pack/a", "pack/a-other")
    assert harness("check") == (4, "", "harness: pack/a.toml:3: is no TOML\n")


def test_every_file_that_cannot_be_used_is_told_and_the_others_are_checked(
    harness: Harness, world: World, judged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = wiring.load_scenario

    def some_broken(place: wiring.Settings, name: str) -> LoadedScenario:
        if name in {"pack/a", "pack/c"}:
            raise ScenarioError(f"{name}.toml", "is no TOML", line=3)
        return load(place, name)

    monkeypatch.setattr(wiring, "load_scenario", some_broken)
    world.names = ("pack/a", "pack/b", "pack/c", "pack/d")

    code, out, err = harness("check")

    assert code == 4
    assert err == "harness: pack/a.toml:3: is no TOML\nharness: pack/c.toml:3: is no TOML\n"
    assert "NOT FINE  pack/b" in out
    assert out.endswith("1 of 2 scenarios are fine, 2 more cannot be used; no recording\n")
    assert json.loads(harness("check", "--format", "json")[1])["broken"] == [
        "pack/a.toml:3: is no TOML",
        "pack/c.toml:3: is no TOML",
    ]
    assert harness("check", "pack/a")[:2] == (4, "")


def test_a_scenario_whose_control_plane_is_missing_does_not_stop_the_others(
    harness: Harness, world: World, judged: None
) -> None:
    world.planes = ()

    code, out, err = harness("check")

    assert (code, out) == (4, "")
    assert err.count("harness plane install loopx==0.4.8") == 1


def test_every_file_whose_control_plane_is_missing_is_counted_and_the_command_is_named(
    harness: Harness, world: World, judged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = wiring.load_scenario

    def elsewhere(place: wiring.Settings, name: str) -> LoadedScenario:
        loaded = load(place, name)
        if name == "pack/c":
            raise ScenarioError("pack/c.toml", "is no TOML", line=3)
        other = {} if name == "pack/d" else {"plane": "loopx==9.9.9"}
        return loaded.model_copy(update={"scenario": loaded.scenario.model_copy(update=other)})

    monkeypatch.setattr(wiring, "load_scenario", elsewhere)
    world.names = ("pack/a", "pack/b", "pack/c", "pack/d")

    code, out, err = harness("check")

    assert (code, err.count("\n")) == (4, 2)
    assert out.endswith(
        "1 scenario is fine, 3 more cannot be used (type: harness plane install loopx==9.9.9); no recording\n"
    )


def test_a_recording_that_cannot_be_read_is_told_and_the_others_are_replayed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, world: World
) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    monkeypatch.setattr(wiring, "recorded_paths", lambda *_: (bad, good))

    def specs(_place: wiring.Settings, _one: LoadedScenario, name: str) -> tuple[ActorSpec, ...]:
        if name == str(bad):
            raise RecordingError(bad, "the file is empty")
        identity = ActorIdentity(ref="recorded:good", kind="recorded", digest="sha256:good")
        return (ActorSpec(identity=identity, recording=name, trial=1),)

    monkeypatch.setattr(wiring, "recorded_specs", specs)
    monkeypatch.setattr(
        check_recordings, "_report", lambda *_, **__: RecordingReport(recording="good", scenario="pack/a")
    )
    place = wiring.settings()
    loaded = wiring.load_scenario(place, "pack/a")
    planes = {loaded.scenario.plane: wiring.plane_identity(place, loaded.scenario.plane)}

    replayed = check_recordings.check_recordings(
        *(place, wiring.Session(place), [loaded], planes, EpisodeOptions()),
        everything=True,
        mutate=False,
        form="text",
        advance=Progressing(),
    )

    printed = capsys.readouterr()
    assert (replayed.exit_code, [report.recording for report in replayed.reports]) == (ExitCode.BAD_INPUT, ["good"])
    assert printed.out.startswith("fits  pack/a  good  live\n")
    assert printed.err == f"harness: {replayed.broken[0]}\n"
    assert replayed.counts == "1 of 2 recordings is unreadable"
    assert "bad.jsonl: recording_unreadable: the file is empty" in replayed.broken[0]


@pytest.mark.parametrize("said", ["auto", "off"])
def test_the_sandbox_of_the_scripts_is_the_one_that_was_said(
    harness: Harness, world: World, judged: None, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    seen: list[str] = []

    def player(*given: object) -> None:
        (options,) = (one for one in given if isinstance(one, EpisodeOptions))
        seen.append(options.sandbox)

    monkeypatch.setattr("harness.cli.check._player", player)
    harness("check", "pack/a", "--sandbox", said)
    assert seen == [said]
