from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from machine import PATIENCE_S

from harness.cli.output import colored
from harness.errors import PlaneMissingError, StoreError
from harness.receipt import RunStore, read_run
from harness.schema.confinement import Confinement
from harness.schema.run import EpisodeJob, EpisodeResult, Manifest
from harness.schema.verdict import Verdict
from harness.wiring import sandboxing


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path
    verdicts: dict[str, Verdict]
    names: tuple[str, ...]
    planes: tuple[str, ...]
    jobs: list[EpisodeJob]
    cancelled: int
    swept: int
    episode: Callable[[EpisodeJob], EpisodeResult] | None

    def result(self, job: EpisodeJob) -> EpisodeResult: ...


def _scenarios(out: str) -> list[str]:
    return [json.loads(line)["scenario"] for line in out.splitlines()]


def test_every_scenario_is_run_with_its_reference_where_nothing_is_chosen(harness: Harness, world: World) -> None:
    code, out, err = harness("run", "--format", "jsonl")

    assert (code, err, _scenarios(out)) == (0, "", ["pack/a", "pack/b"])
    assert [job.actor.identity.ref for job in world.jobs] == ["script", "script"]
    assert world.swept == 1


def test_the_run_folder_is_named_by_time_and_holds_receipts_and_reports(harness: Harness, world: World) -> None:
    assert harness("run")[0] == 0

    (folder,) = (path for path in (world.folder / "reports").iterdir() if path.is_dir())
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{4}", folder.name)
    assert {path.name for path in folder.iterdir()} >= {
        "manifest.json",
        "receipts.jsonl",
        "run.jsonl",
        "junit.xml",
        "report.html",
    }
    view = read_run(folder)
    assert (view.manifest.run_id, view.manifest.state) == (folder.name, "complete")
    assert [receipt.scenario for receipt in view.receipts] == ["pack/a", "pack/b"]


def test_the_manifest_tells_plan_planes_actors_and_environment_names(harness: Harness, world: World) -> None:
    harness("run", "--out", "out", "--trials", "2", "--executor", "cold")

    manifest = read_run(world.folder / "out").manifest
    assert [(one.scenario, one.actor, one.plane, one.trial) for one in manifest.plan] == [
        (name, "script", "loopx==0.4.8", trial) for name in ("pack/a", "pack/b") for trial in (1, 2)
    ]
    assert [one.id for one in manifest.scenarios] == ["pack/a", "pack/b"]
    assert [one.ref for one in manifest.actors] == ["script"]
    assert manifest.enforcement.executor == "cold"
    assert "HOME" in manifest.enforcement.plane_environment


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ({}, 0),
        ({"pack/b": "fail"}, 1),
        ({"pack/b": "not_judged"}, 2),
        ({"pack/b": "pending"}, 3),
        ({"pack/a": "not_judged", "pack/b": "fail"}, 1),
    ],
)
def test_scripted_actors_must_all_pass(harness: Harness, world: World, verdicts: dict[str, Verdict], code: int) -> None:
    world.verdicts = verdicts

    assert harness("run")[0] == code


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 0), ("pending", 3), ("not_judged", 2)])
def test_live_actors_only_need_judged_receipts(harness: Harness, world: World, verdict: Verdict, code: int) -> None:
    world.verdicts = {"pack/a": verdict}

    assert harness("run", "pack/a", "--actor", "openai/m", "--yes-spend")[0] == code


def test_a_live_actor_without_consent_is_refused_before_anything_is_done(harness: Harness, world: World) -> None:
    code, out, err = harness("run", "--actor", "script", "--actor", "openai/m", "--out", "out")

    assert (code, out) == (4, "")
    assert (
        err == "harness: actor 'openai/m' is a live model and costs money; "
        "bound it with --max-cost USD, or agree with --yes-spend\n"
    )
    assert world.jobs == []
    assert not (world.folder / "out").exists()


def test_a_missing_key_is_told_by_name_before_anything_is_made(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", " ")

    code, out, err = harness("run", "--actor", "openai/m", "--yes-spend", "--out", "out")

    assert (code, out) == (4, "")
    assert err == "harness: actor 'openai/m' needs an API key: set the environment variable SOME_API_KEY\n"
    assert not (world.folder / "out").exists()


def test_a_provider_that_needs_no_key_is_run_without_one(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOME_API_KEY")

    assert harness("run", "pack/a", "--actor", "openai-compatible/m", "--yes-spend")[0] == 0


@pytest.mark.parametrize(
    ("argv", "code", "line"),
    [
        (("pack/c",), 4, "harness: unknown scenario 'pack/c'; there are: pack/a, pack/b\n"),
        (("other/*",), 5, "harness: no scenario is chosen by other/*; searched: "),
        (("tag:none",), 5, "harness: no scenario is chosen by tag:none; searched: "),
        (("--actor", "nobody"), 4, "harness: unknown actor 'nobody'; there are: script\n"),
        (("--report", "pdf"), 4, "harness: unknown report 'pdf'; there are: csv, github, html, junit, "),
        (("pack/a", "pack/a.toml"), 4, "harness: scenario pack/a is chosen from two files: "),
        (("--actor", "script", "--actor", "script"), 4, "harness: actor 'script' is given twice for pack/a; use "),
    ],
)
def test_what_does_not_exist_is_one_line_with_what_does(
    harness: Harness, world: World, argv: tuple[str, ...], code: int, line: str
) -> None:
    ended, out, err = harness("run", *argv)

    assert (ended, out, err.count("\n")) == (code, "", 1)
    assert err.startswith(line)
    assert world.jobs == []


def test_no_scenario_at_all_is_an_empty_selection(harness: Harness, world: World) -> None:
    world.names = ()

    assert harness("run")[0] == 5


def test_a_missing_plane_tells_the_line_to_type_and_leaves_no_folder(harness: Harness, world: World) -> None:
    world.planes = ()

    code, _, err = harness("run", "--out", "out")

    assert code == 4
    assert err.endswith("type: harness plane install loopx==0.4.8\n")
    assert not (world.folder / "out").exists()


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (("pack/b",), ["pack/b"]),
        (("pack/*",), ["pack/a", "pack/b"]),
        (("tag:tier:pr",), ["pack/a"]),
        (("tag:tier:*", "pack/b"), ["pack/a", "pack/b"]),
        (("mine/c.toml",), ["mine/c"]),
        (("mine/c.toml", "pack/a"), ["mine/c", "pack/a"]),
    ],
)
def test_scenarios_are_chosen_by_id_glob_tag_and_file(
    harness: Harness, world: World, selection: tuple[str, ...], chosen: list[str]
) -> None:
    assert _scenarios(harness("run", *selection, "--format", "jsonl")[1]) == chosen
    assert len(world.jobs) == len(chosen)


def test_receipts_are_printed_in_plan_order_whatever_finishes_first(harness: Harness, world: World) -> None:
    second_is_done = threading.Event()

    def episode(job: EpisodeJob) -> EpisodeResult:
        if job.loaded.scenario.id == "pack/a":
            assert second_is_done.wait(PATIENCE_S)
        else:
            second_is_done.set()
        return world.result(job)

    world.episode = episode

    code, out, err = harness("run", "--format", "jsonl", "-n", "2", "--out", "out")

    assert (code, err, _scenarios(out)) == (0, "", ["pack/a", "pack/b"])
    assert (world.folder / "out" / "receipts.jsonl").read_text() == out


def test_json_holds_receipts_and_counts_of_verdicts(harness: Harness, world: World) -> None:
    world.verdicts = {"pack/b": "fail"}

    printed = json.loads(harness("run", "--format", "json")[1])

    assert [receipt["scenario"] for receipt in printed["receipts"]] == ["pack/a", "pack/b"]
    assert printed["verdicts"] == {"pass": 1, "fail": 1, "not_judged": 0, "pending": 0}


@pytest.mark.parametrize("columns", ["80", "140"])
def test_text_is_the_summary_and_where_the_folder_is(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    world.verdicts = {"pack/b": "fail"}

    code, out, err = harness("run", "--out", "out")

    assert (code, err) == (1, "")
    assert {"pack/a", "pack/b", "stopped"} <= set(re.findall(r"[\w/]+", out))
    assert "\nLook next in out\n   report.html " in out
    assert all((Path("out") / name).is_file() for name in re.findall(r"^   (\S+\.\w+) ", out, re.MULTILINE))
    assert max(map(len, out.splitlines())) <= int(columns)
    assert "\x1b" not in out


def test_kept_workspaces_are_told(harness: Harness, world: World) -> None:
    out = harness("run", "--keep-workspace")[1]

    for number, name in ((1, "pack/a"), (2, "pack/b")):
        assert f"workspace kept of {number}. {name}, script: {world.folder / 'kept'}\n" in out


def test_reports_may_be_chosen(harness: Harness, world: World) -> None:
    harness("run", "--report", "junit", "--out", "out")

    assert {path.name for path in (world.folder / "out").iterdir()} == {
        "asked.json",
        "manifest.json",
        "receipts.jsonl",
        "run.jsonl",
        "junit.xml",
    }


def test_options_reach_the_jobs(harness: Harness, world: World) -> None:
    harness("run", "pack/a", "--executor", "cold", "--shadow", "3", "--keep-workspace", "--repeat-idempotent")

    (job,) = world.jobs
    assert (job.options.executor, job.options.shadow_every, job.options.keep_workspace) == ("cold", 3, True)
    assert job.options.repeat_idempotent


def test_a_folder_with_a_run_is_never_overwritten(harness: Harness, world: World) -> None:
    harness("run", "pack/a", "--out", "out")
    before = (world.folder / "out" / "receipts.jsonl").read_bytes()

    code, out, err = harness("run", "--out", "out")

    assert (code, out) == (4, "")
    assert "holds a run already" in err
    assert (world.folder / "out" / "receipts.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("form", "rows"),
    [
        ("text", ["scenario  actor     plane         trial", "pack/a    openai/m  loopx==0.4.8  1"]),
        ("jsonl", ['{"scenario": "pack/a", "actor": "openai/m", "plane": "loopx==0.4.8", "trial": 1}']),
    ],
)
def test_a_dry_run_prints_the_plan_and_does_nothing(harness: Harness, world: World, form: str, rows: list[str]) -> None:
    code, out, err = harness("run", "--actor", "openai/m", "--dry-run", "--format", form)

    assert (code, err, out.splitlines()[: len(rows)]) == (0, "", rows)
    assert world.jobs == []
    assert not (world.folder / "reports").exists()


def test_a_dry_run_tells_how_often_live_models_may_be_called(harness: Harness, world: World) -> None:
    out = harness("run", "--actor", "script", "--actor", "openai/m", "--trials", "3", "--dry-run")[1]

    # two scenarios, three trials of the live actor, twelve turns each
    assert out.splitlines()[-1].startswith("12 episodes; at most 72 calls of live models, ")
    assert out.splitlines()[-1].endswith(" tokens, price unknown")


def test_a_dry_run_as_json_is_one_object(harness: Harness, world: World) -> None:
    plan = json.loads(harness("run", "pack/a", "--dry-run", "--format", "json")[1])

    assert plan.pop("estimate")["calls"] == 0
    assert plan == {"plan": [{"scenario": "pack/a", "actor": "script", "plane": "loopx==0.4.8", "trial": 1}]}


def test_a_bug_in_one_episode_is_told_and_the_others_are_kept(harness: Harness, world: World) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        if job.loaded.scenario.id == "pack/a":
            raise RuntimeError("sk-canary")
        return world.result(job)

    world.episode = episode

    code, out, err = harness("run", "--format", "jsonl", "--out", "out")

    assert (code, _scenarios(out)) == (70, ["pack/b"])
    assert err.startswith("harness: a bug of harness in episode 1 of 2: RuntimeError at test_run.py:")
    assert "canary" not in err
    assert [receipt.scenario for receipt in read_run(world.folder / "out").receipts] == ["pack/b"]


def test_an_input_error_of_an_episode_keeps_what_was_finished(harness: Harness, world: World) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        if job.loaded.scenario.id == "pack/b":
            raise PlaneMissingError("loopx==0.4.8", "home")
        return world.result(job)

    world.episode = episode

    code, _, err = harness("run", "-n", "1", "--out", "out")

    assert (code, err.count("\n")) == (4, 1)
    view = read_run(world.folder / "out")
    assert (view.manifest.state, [receipt.scenario for receipt in view.receipts]) == ("interrupted", ["pack/a"])


def test_ctrl_c_finishes_what_is_in_flight_and_exits_130(harness: Harness, world: World) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        os.kill(os.getpid(), signal.SIGINT)
        return world.result(job)

    world.episode = episode

    code, out, err = harness("run", "--format", "jsonl", "-n", "1", "--out", "out")

    assert (code, _scenarios(out), len(world.jobs), world.cancelled) == (130, ["pack/a"], 1, 0)
    assert (
        err
        == "harness: interrupted; 1 of 2 episodes is finished and kept in out; go on with: harness run --resume out\n"
    )
    assert read_run(world.folder / "out").manifest.state == "interrupted"


def test_a_run_that_cannot_be_laid_out_tells_both_errors(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        if job.loaded.scenario.id == "pack/a":
            return world.result(job)
        raise PlaneMissingError(job.plane.ref, "home")

    def finish(store: RunStore, finished_at: str) -> Manifest:
        del store, finished_at
        raise StoreError("the disk is full")

    world.episode = episode
    monkeypatch.setattr(RunStore, "finish", finish)

    code, _, err = harness("run", "--out", "out", "-n", "1")

    assert code == 4
    assert err.splitlines()[0] == "harness: the disk is full"
    assert err.splitlines()[1].startswith("harness: control plane loopx==0.4.8 is not installed")


def test_of_a_run_that_was_refused_before_anything_was_played_nothing_stays(harness: Harness, world: World) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        raise PlaneMissingError(job.plane.ref, "home")

    world.episode = episode
    before = sorted(world.folder.rglob("*"))

    assert harness("run")[0] == 4
    assert harness("run", "--out", "out/deep")[0] == 4
    assert sorted(world.folder.rglob("*")) == before


@pytest.mark.parametrize(("actor", "synced"), [("script", False), ("openai-compatible/m@http://127.0.0.1:9", True)])
def test_only_what_is_paid_for_waits_for_the_disk(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch, actor: str, synced: bool
) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)

    harness("run", "pack/a", "--actor", actor, "--yes-spend", "--out", "out")

    assert (flushed != []) == synced
    assert (world.folder / "out/receipts.jsonl").read_bytes().count(b"\n") == 1


def test_a_secret_about_to_be_written_stops_the_run_and_is_not_shown(harness: Harness, world: World) -> None:
    def episode(job: EpisodeJob) -> EpisodeResult:
        result = world.result(job)
        return result.model_copy(update={"log": result.log.model_copy(update={"problem": "canary-secret"})})

    world.episode = episode

    code, out, err = harness("run", "--out", "out", "-n", "1")

    assert (code, len(world.jobs), world.cancelled) == (70, 1, 1)
    assert "canary-secret" not in out + err
    for path in (world.folder / "out").iterdir():
        assert b"canary-secret" not in path.read_bytes()


class _Terminal(io.StringIO):
    """Standard error of someone who watches."""

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_to_who_watches_and_results_stay_clean(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    code, out, _ = harness("run", "--format", "json")

    assert (code, len(json.loads(out)["receipts"])) == (0, 2)
    assert "2/2" in terminal.getvalue()


def test_no_bar_breaks_into_receipts_that_come_line_by_line(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    code, out, _ = harness("run", "--format", "jsonl")

    assert (code, _scenarios(out), terminal.getvalue()) == (0, ["pack/a", "pack/b"], "")


def test_no_color_is_respected_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", _Terminal())

    assert colored({})
    assert not colored({"NO_COLOR": "1"})
    assert not colored({"TERM": "dumb"})


def test_nothing_is_coloured_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())

    assert not colored({})


def test_a_reader_who_goes_away_does_not_harm_the_run() -> None:
    """In a process of its own, for the interpreter's last flush counts too."""
    script = (
        "import os, sys\n"
        "from harness.cli.output import say, say_json\n"
        "for n in range(20000): say_json({'n': n})\n"
        "sys.stderr.write('went on')\n"
        "sys.exit(3)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b'{"n": 0}\n'
        process.stdout.close()
        assert process.stderr.read() == b"went on"
        assert process.wait(PATIENCE_S) == 3


def test_more_episodes_than_a_run_may_have_are_refused_before_any_is_planned(harness: Harness, world: World) -> None:
    actors = [word for number in range(6) for word in ("--actor", f"script:{number}")]

    code, out, err = harness("run", *actors, "--trials", "10000", "--dry-run")

    assert (code, out) == (4, "")
    assert err == "harness: 120000 episodes are too many for one run; allowed: at most 100000\n"


@pytest.mark.parametrize("word", ["completed", "not_judged", "tool_calls", "Look at the target."])
def test_a_key_that_is_an_ordinary_text_is_refused_before_anything_is_asked(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", word)

    code, out, err = harness("run", "--actor", "openai/m", "--yes-spend")

    assert (code, out, world.jobs) == (4, "", [])
    assert err.startswith("harness: the key in SOME_API_KEY is an ordinary text")
    assert word not in err


@pytest.mark.parametrize("word", ["none", "a", "model", "EMPTY"])
def test_a_short_key_is_not_looked_for_and_harms_nothing(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", word)

    assert harness("run", "--actor", "openai/m", "--yes-spend")[::2] == (0, "")


def test_the_manifest_tells_what_was_seen_to_hold(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Confinement(held=("writes", "tcp"), means=("landlock-4",))
    monkeypatch.setattr(sandboxing, "measured", lambda: seen)
    assert harness("run", "--out", "out", "--require-sandbox")[0] == 0
    assert harness("run", "--out", "open", "--sandbox", "off")[0] == 0

    held = read_run(world.folder / "out").manifest.enforcement
    assert (held.sandbox, held.held, held.means) == ("filesystem", ("writes", "tcp"), ("landlock-4",))
    assert read_run(world.folder / "open").manifest.enforcement.sandbox == "none"

    monkeypatch.setattr(sandboxing, "measured", Confinement)
    assert harness("run", "--resume", "out", "--sandbox", "auto")[0] == 4
    for name in ("out", "open"):
        assert (world.folder / name / "manifest.json").is_file()


def test_a_run_that_went_on_with_less_says_less(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxing, "measured", lambda: Confinement(held=("writes", "tcp", "udp", "unix")))
    assert harness("run", "--out", "out")[0] == 0
    monkeypatch.setattr(sandboxing, "measured", lambda: Confinement(held=("writes", "tcp")))
    assert harness("run", "--resume", "out")[0] == 0
    monkeypatch.setattr(sandboxing, "measured", lambda: Confinement(held=("writes", "tcp", "udp", "unix")))
    assert harness("run", "--resume", "out")[0] == 0
    assert read_run(world.folder / "out").manifest.enforcement.held == ("writes", "tcp")


def test_a_sandbox_that_is_required_and_not_there_is_refused_before_anything(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxing, "measured", Confinement)
    for more in ((), ("--dry-run",)):
        code, out, err = harness("run", "--out", "out", "--require-sandbox", *more)
        assert (code, out, err.count("\n")) == (4, "", 1)
        assert "--require-sandbox: nothing keeps what is run to its workspace here" in err
    assert not (world.folder / "out").exists()
    assert world.jobs == []
    code, _, err = harness("run", "--require-sandbox", "--sandbox", "off")
    assert (code, "contradict each other" in err) == (4, True)
