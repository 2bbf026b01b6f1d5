"""The pack of the registry: on a machine where no control plane is installed, as people start it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine

from harness import wiring
from harness.schema.actor import ActorSpec
from harness.schema.process import PlaneIdentity
from harness.schema.run import EpisodeJob, EpisodeResult
from harness.schema.scenario import LoadedScenario
from harness.schema.trace import EpisodeTrace
from harness.suite import check_scenario

PACK = (
    "registry/answers-after-last-tool-call",
    "registry/finalizes-without-false-claims",
    "registry/recovers-from-stale-version",
    "registry/reports-blocked-honestly",
)


@pytest.fixture
def bare(tmp_path: Path) -> CommandLine:
    """The command where nothing is installed."""
    return CommandLine(tmp_path / "no planes", tmp_path)


@pytest.fixture
def place(tmp_path: Path) -> wiring.Settings:
    """The same, in this process."""
    return wiring.settings({"HARNESS_HOME": str(tmp_path / "no planes"), "PATH": "/usr/bin:/bin"}, tmp_path)


def loaded(place: wiring.Settings, name: str) -> tuple[LoadedScenario, PlaneIdentity]:
    """A scenario of the pack and its control plane."""
    one = wiring.load_scenario(place, name)
    return one, wiring.plane_identity(place, one.scenario.plane)


@pytest.mark.parametrize("name", PACK)
def test_each_scenario_is_qualified_by_its_own_scripts(place: wiring.Settings, name: str) -> None:
    one, plane = loaded(place, name)
    with wiring.Session(place) as session:

        def play(world: LoadedScenario, actor: ActorSpec) -> tuple[EpisodeResult, EpisodeTrace | None]:
            return session.trace(EpisodeJob(loaded=world, actor=actor, plane=plane))

        report = check_scenario(one, play=play)
    assert report.findings == ()
    assert report.red == report.mutations > 0


def test_the_pack_is_the_folder(place: wiring.Settings) -> None:
    assert tuple(name for name in wiring.scenarios(place) if name.startswith("registry/")) == PACK


def test_it_runs_where_no_control_plane_is_installed_and_reports_without_commands(bare: CommandLine) -> None:
    out = bare.folder / "out"
    actors = ("--actor", "script", "--actor", "script:false_claim")
    done = bare.run("run", "registry/finalizes-*", *actors, "--format", "jsonl", "--out", str(out))
    assert (done.returncode, done.stderr) == (1, b"")
    right, wrong = map(json.loads, done.stdout.splitlines())
    assert (right["verdict"], wrong["failure_code"]) == ("pass", "false_claim")
    assert right["plane"]["version"].startswith("1+")
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert [plane["name"] for plane in manifest["planes"]] == ["registry"]
    for report in ("report.html", "summary.txt", "summary.md", "junit.xml"):
        text = (out / report).read_text("utf-8")
        assert "complete_lint" in text, report
        assert "what was true at the end" in text, report
        assert "/answer/deploy" in text.replace("<wbr>", ""), report


def test_the_same_receipts_come_out_wherever_it_is_run(bare: CommandLine, tmp_path: Path) -> None:
    far = CommandLine(tmp_path / "none", tmp_path / "a long way/with spaces/and ünïcödé")
    asked = ("run", "registry/*", "--format", "jsonl", "--out")
    one = bare.run(*asked, str(bare.folder / "out"))
    other = far.run(*asked, str(far.folder / "out"), "-n", "1", TZ="Asia/Tokyo", LC_ALL="C")
    assert (one.returncode, one.stdout.count(b"\n")) == (0, len(PACK))
    assert one.stdout == other.stdout


def test_calls_of_its_tools_are_classified_as_they_are_written(bare: CommandLine) -> None:
    stale = 'complete_task {"id": "{task}", "version": 2}'
    done = bare.run("scenario", "classify", PACK[2], stale, "list_tasks {}", "ls", "get_task x", "--format", "jsonl")
    assert (done.returncode, done.stderr) == (0, b"")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["kind"], row["code"]) for row in rows] == [
        ("stale_complete", "completed_before_claim"),
        ("look", None),
        (None, None),
        (None, None),
    ]
    assert {row["problem"] for row in rows[2:]} == {"no tool here takes a command; write TOOL {ARGUMENTS}"}


def test_an_operation_that_the_registry_has_not_is_refused_with_its_line(bare: CommandLine) -> None:
    text = (Path(__file__).parents[2] / "scenarios" / f"{PACK[0]}.toml").read_text("utf-8")
    path = bare.cwd / "scenarios" / f"{PACK[0]}.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace('operation = "list"', 'operation = "lists"'), "utf-8")
    done = bare.run("run", PACK[0])
    line = text.splitlines().index('operation = "list"') + 1
    assert done.returncode == 4
    assert (
        f":{line}: tool.list_tasks.operation: registry has no operation 'lists'; did you mean" in done.stderr.decode()
    )


@pytest.mark.slow
def test_receipts_are_the_same_bytes_in_whatever_pool_they_are_made(bare: CommandLine, tmp_path: Path) -> None:
    receipts = []
    for pool in ("threads", "processes"):
        done = bare.run("run", "registry/*", "--trials", "2", "--pool", pool, "-n", "2", "--out", str(tmp_path / pool))
        assert (done.returncode, done.stderr) == (0, b"")
        receipts.append((tmp_path / pool / "receipts.jsonl").read_bytes())
    assert receipts[0] == receipts[1]
    assert receipts[0].count(b"\n") == 2 * len(PACK)
