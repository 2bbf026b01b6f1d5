"""A recording drives the real loop against the real control plane, and every change in the world is named."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine

from harness import recording, wiring
from harness.receipt import canonical
from harness.redaction import SecretGuard
from harness.schema.base import JsonValue
from harness.schema.message import GenerationSettings
from harness.schema.recording import Exchange, Recording
from harness.schema.run import EpisodeJob, EpisodeOptions

pytestmark = [pytest.mark.plane, pytest.mark.slow]

REPOSITORY = Path(__file__).resolve().parents[2]
NAME = "loopx/selected-todo"
GOOD = "openai-compatible--good-39fb342b"


@pytest.fixture
def own(line: CommandLine) -> CommandLine:
    """A folder of a user's own with one scenario and its good recording."""
    for kind in ("scenarios", "recordings"):
        shutil.copytree(REPOSITORY / kind / "loopx", line.cwd / kind / "loopx")
    (line.cwd / "scenarios/loopx/capability-repair.toml").unlink()
    shutil.rmtree(line.cwd / "recordings/loopx/capability-repair")
    for path in recorded(line).parent.iterdir():
        if path.stem != GOOD:
            path.unlink()
    return line


def recorded(line: CommandLine) -> Path:
    """The one recording."""
    return line.cwd / "recordings" / NAME / f"{GOOD}.jsonl"


def edit(line: CommandLine, old: str, new: str) -> None:
    """Change the scenario."""
    path = line.cwd / "scenarios" / f"{NAME}.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def change(line: CommandLine, how: Callable[[Recording], Recording]) -> None:
    """Change the recording and seal it anew."""
    path = recorded(line)
    changed = recording.reseal(how(recording.load(path)))
    recording.write(path, changed, SecretGuard(), replace=True)


def replay(line: CommandLine, *more: str) -> tuple[int, dict[str, JsonValue], list[dict[str, JsonValue]]]:
    """Exit code, receipt, and what the drift check found."""
    out = line.folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    done = line.run("run", NAME, "--actor", "recorded", "--format", "jsonl", "--out", str(out), *more)
    receipt = json.loads(done.stdout)
    return done.returncode, receipt, [one for one in receipt["findings"] if one["check"] == "drift"]


def codes(drifts: list[dict[str, JsonValue]]) -> list[JsonValue]:
    """Their codes, in order, each once."""
    return list(dict.fromkeys(one["code"] for one in drifts))


def test_a_recording_that_fits_is_judged_like_its_episode(own: CommandLine) -> None:
    code, receipt, drifts = replay(own)
    assert (code, receipt["verdict"], drifts) == (0, "pass", [])
    actor = receipt["actor"]
    assert isinstance(actor, dict)
    assert (actor["kind"], actor["ref"]) == ("recorded", f"recorded:{GOOD}")


def test_a_changed_prompt_is_told_as_prompt_and_by_place(own: CommandLine) -> None:
    edit(own, "You carry out a single LoopX heartbeat", "You carry out one LoopX heartbeat")
    code, receipt, drifts = replay(own)
    assert (code, receipt["verdict"], receipt["failure_code"]) == (6, "not_judged", "stale_scenario")
    assert codes(drifts) == [
        "stale_scenario",
        "stale_prompt",
        "stale_request",
        "stale_not_asked",
        "stale_plane_answer",
    ]
    assert "/messages/0/content" in [one["pointer"] for one in drifts]
    outcome = receipt["outcome"]
    assert isinstance(outcome, dict)
    assert outcome["reason"] == "replay_mismatch"


def test_a_changed_tool_is_told_as_tools(own: CommandLine) -> None:
    edit(own, "Runs one command in the project root", "Runs one command there")
    _, _, drifts = replay(own)
    assert "stale_tools" in codes(drifts)
    assert "/tools/0/function/description" in [one["pointer"] for one in drifts]


def test_a_changed_world_is_told_by_the_planes_answer(own: CommandLine) -> None:
    edit(own, "Inspect the contract in", "Look at the contract in")
    code, receipt, drifts = replay(own)
    assert code == 6
    answers = [one for one in drifts if one["code"] == "stale_plane_answer"]
    assert answers
    assert all(one["step"] == 1 and one["pointer"] is not None for one in answers)
    assert receipt["verdict"] == "not_judged"


def test_a_changed_rule_makes_its_recordings_stale_although_nothing_else_differs(own: CommandLine) -> None:
    edit(own, 'name = "clock"', 'name = "time"')
    code, receipt, drifts = replay(own)
    assert (code, receipt["verdict"], codes(drifts)) == (6, "not_judged", ["stale_scenario"])


def test_an_answer_that_differs_from_the_recorded_one_is_named_by_step_and_pointer(own: CommandLine) -> None:
    def other(kept: Recording) -> Recording:
        answer = kept.answers[0]
        assert isinstance(answer.answer, dict)
        changed = answer.model_copy(update={"answer": {**answer.answer, "decision": "other"}})
        return kept.model_copy(update={"answers": (changed,)})

    change(own, other)
    code, receipt, drifts = replay(own)
    assert (code, receipt["failure_code"], receipt["cause"]) == (6, "stale_plane_answer", "control_plane")
    assert [(one["step"], one["pointer"]) for one in drifts] == [(1, "/decision")]


def _exchange(kept: Recording, update: Callable[[Exchange], Exchange]) -> Recording:
    return kept.model_copy(update={"exchanges": (update(kept.exchanges[0]), *kept.exchanges[1:])})


def _asking(kept: Recording, **update: JsonValue) -> Recording:
    return _exchange(kept, lambda one: one.model_copy(update={"request": one.request.model_copy(update=dict(update))}))


def _failing(kept: Recording) -> Recording:
    return _exchange(
        kept, lambda one: one.model_copy(update={"response": one.response.model_copy(update={"status": 503})})
    )


def _answering(kept: Recording, **update: JsonValue) -> Recording:
    return kept.model_copy(update={"answers": (kept.answers[0].model_copy(update=dict(update)), *kept.answers[1:])})


def _acting(kept: Recording, **update: JsonValue) -> Recording:
    actor = kept.header.actor.model_copy(update=dict(update))
    return kept.model_copy(update={"header": kept.header.model_copy(update={"actor": actor})})


def _warmer(kept: Recording) -> Recording:
    actor = kept.header.actor.model_copy(update={"settings": GenerationSettings(temperature=0.5)})
    return kept.model_copy(update={"header": kept.header.model_copy(update={"actor": actor})})


@pytest.mark.parametrize(
    ("how", "code", "pointer"),
    [
        (lambda kept: _asking(kept, method="PUT"), "stale_request", "/entry/request/method"),
        (lambda kept: _asking(kept, headers={"content-type": "text/plain"}), "stale_request", "/entry/request/headers"),
        (_failing, "stale_reply", "/entry/response/status"),
        (lambda kept: _answering(kept, exit_code=1), "stale_plane_answer", "/entry/exit_code"),
        (lambda kept: _answering(kept, kind=None), "stale_plane_answer", "/entry/kind"),
        (lambda kept: _acting(kept, model="other"), "stale_request", "/model"),
        (_warmer, "stale_request", "/temperature"),
    ],
    ids=["method", "header", "status", "exit code", "kind", "model", "settings"],
)
def test_whatever_a_recording_says_besides_bodies_is_compared_too(
    own: CommandLine, how: Callable[[Recording], Recording], code: str, pointer: str
) -> None:
    change(own, how)
    ended, receipt, drifts = replay(own)
    assert (ended, receipt["verdict"]) == (6, "not_judged")
    places = [str(one["pointer"]) for one in drifts if one["code"] == code]
    assert any(place.startswith(pointer) for place in places), drifts


def test_another_version_of_the_plane_is_told(own: CommandLine) -> None:
    def older(kept: Recording) -> Recording:
        assert kept.header.plane is not None
        plane = kept.header.plane.model_copy(update={"version": "0.4.7"})
        return kept.model_copy(update={"header": kept.header.model_copy(update={"plane": plane})})

    change(own, older)
    code, receipt, drifts = replay(own)
    assert (code, codes(drifts), receipt["cause"]) == (6, ["stale_plane_version"], "control_plane")


def test_an_exchange_that_is_not_asked_any_more_is_told(own: CommandLine) -> None:
    def longer(kept: Recording) -> Recording:
        last = kept.exchanges[-1]
        more = last.model_copy(update={"number": last.number + 1})
        return kept.model_copy(update={"exchanges": (*kept.exchanges, more)})

    change(own, longer)
    code, _, drifts = replay(own)
    assert (code, codes(drifts)) == (6, ["stale_not_asked"])


def test_staleness_may_be_a_warning(own: CommandLine) -> None:
    edit(own, 'name = "clock"', 'name = "time"')
    code, receipt, _ = replay(own, "--stale", "warn")
    assert (code, receipt["verdict"]) == (0, "not_judged")


def test_a_broken_seal_is_bad_input_by_file_and_line_and_never_absent(own: CommandLine) -> None:
    path = recorded(own)
    data = path.read_bytes()
    place = data.index(b'"response"')
    path.write_bytes(data[:place] + data[place:].replace(b"tool_calls", b"tool_cells", 1))
    done = own.run("run", NAME, "--actor", "recorded", "--out", str(own.folder / "out"))
    assert done.returncode == 4
    assert done.stderr.count(b"\n") == 1
    assert b"recording_unreadable" in done.stderr
    assert b"jsonl" in done.stderr


def test_a_scenario_without_a_recording_has_nothing_to_replay(own: CommandLine) -> None:
    recorded(own).unlink()
    done = own.run("run", NAME, "--actor", "recorded")
    assert done.returncode == 5
    assert b"recorded" in done.stderr
    assert not (own.cwd / "reports").exists()


def test_a_copy_of_a_recording_is_refused_by_name_and_never_counted_twice(own: CommandLine) -> None:
    shutil.copy(recorded(own), recorded(own).with_name("copy.jsonl"))
    for argv in (
        ("run", NAME, "--actor", "recorded"),
        ("run", NAME, "--actor", f"recorded:{recorded(own)}", "--actor", f"recorded:{recorded(own).parent}/copy.jsonl"),
        ("check", NAME),
    ):
        done = own.run(*argv)
        assert done.returncode == 4, done.stdout
        assert done.stderr.count(b"\n") == 1
        assert b"records the same episode as" in done.stderr
        assert b"copy.jsonl" in done.stderr
    assert not (own.cwd / "reports").exists()


def test_half_a_recording_is_named_and_not_played(own: CommandLine) -> None:
    half = recorded(own).with_name(f"{GOOD}.jsonl.partial")
    half.write_bytes(b"".join(recorded(own).read_bytes().splitlines(keepends=True)[:2]))
    done = own.run("run", NAME, "--actor", "recorded", "--format", "jsonl")
    assert (done.returncode, done.stdout.count(b"\n")) == (6, 1)
    assert f"half a recording, 1 exchange: {half}; recording was interrupted; it is not played".encode() in done.stderr
    done = own.run("check", NAME)
    assert done.returncode == 6
    told = " ".join(done.stdout.decode().split())
    assert "STRAY half a recording, 1 exchange:" in told
    assert "to do: harness record --replace records anew and then removes it, or remove it" in told
    assert "give its scenario back" not in told
    recorded(own).unlink()
    done = own.run("run", NAME, "--actor", "recorded")
    assert done.returncode == 5
    assert b"half a recording" in done.stderr


def test_check_replays_recordings_and_tells_strays(own: CommandLine) -> None:
    done = own.run("check", NAME)
    assert done.returncode == 0, done.stdout
    assert b"fits  loopx/selected-todo" in done.stdout
    orphan = own.cwd / "recordings/loopx/nobody/some.jsonl"
    orphan.parent.mkdir()
    orphan.write_bytes(recorded(own).read_bytes())
    # who asked about one scenario asked nothing of the others
    done = own.run("check", NAME)
    assert (done.returncode, b"STRAY" in done.stdout) == (0, False)
    edit(own, 'name = "clock"', 'name = "time"')
    done = own.run("check")
    assert done.returncode == 6
    assert b"STALE  loopx/selected-todo" in done.stdout
    assert b"STRAY" in done.stdout
    told = [one for one in done.stdout.decode().splitlines() if not one.startswith("to record anew")]
    assert all(len(one) <= 120 or " " not in one.strip() or "kind[" in one for one in told)
    last = done.stdout.decode().splitlines()[-1]
    assert re.match(r"\d+ scenarios are fine; 1 of \d+ recordings is stale, 1 stray", last)


def test_a_run_of_everything_tells_strays_and_a_run_of_some_does_not(own: CommandLine) -> None:
    orphan = own.cwd / "recordings/loopx/nobody/some.jsonl"
    orphan.parent.mkdir()
    orphan.write_bytes(recorded(own).read_bytes())
    done = own.run("run", NAME, "--actor", "recorded")
    assert (done.returncode, done.stderr) == (0, b"")
    # the bundled recordings of the other scenarios are played too, and two of each fail as they were recorded
    for more, code in (((), 6), (("--stale", "warn"), 1)):
        done = own.run("run", "--actor", "recorded", *more)
        assert done.returncode == code
        assert done.stderr.count(b"\n") == 1
        assert f"stray recording {orphan}: its scenario is not there".encode() in done.stderr


def test_a_scenario_without_a_recording_is_told_beside_those_that_have_one(own: CommandLine) -> None:
    shutil.copy(own.cwd / "scenarios" / f"{NAME}.toml", own.cwd / "scenarios/loopx/second.toml")
    path = own.cwd / "scenarios/loopx/second.toml"
    path.write_text(path.read_text("utf-8").replace('id = "loopx/selected-todo"', 'id = "loopx/second"'), "utf-8")
    done = own.run("run", NAME, "loopx/second", "--actor", "recorded")
    assert done.returncode == 0
    assert done.stderr == b"harness: 1 of 2 scenarios has no recording: loopx/second\n"
    done = own.run("run", NAME, "loopx/second", "--actor", "recorded:good", "--dry-run")
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1)
    assert b"1 of 2 scenarios has no recording: loopx/second (recorded:good)" in done.stderr
    done = own.run("check", NAME, "loopx/second", "--format", "json")
    assert (done.returncode, json.loads(done.stdout)["uncovered"]) == (0, ["loopx/second"])


def test_a_recording_is_chosen_by_its_id_or_a_shorter_name_and_told_as_simulated(own: CommandLine) -> None:
    for name in (GOOD, "good"):
        done = own.run("run", NAME, "--actor", f"recorded:{name}", "--out", str(own.folder / name))
        assert done.returncode == 0, done.stderr
        assert f"recorded:{GOOD}, simulated" in done.stdout.decode()
        assert f"recorded:{GOOD}, simulated" in (own.folder / name / "report.html").read_text("utf-8").replace(
            "<wbr>", ""
        )
    done = own.run("run", NAME, "--actor", "recorded:nobody")
    assert done.returncode == 4
    assert done.stderr.decode() == f"harness: unknown recording of {NAME} 'nobody'; there are: {GOOD}\n"
    done = own.run("run", NAME, "--actor", "recorded", "--set", "temperature=1", "--dry-run")
    assert (done.returncode, done.stderr.count(b"\n")) == (4, 1)
    assert b"--set changes how a live model is asked" in done.stderr


def test_a_damaged_recording_does_not_stop_the_others(own: CommandLine) -> None:
    bad = recorded(own).with_name("openai--bad-00000000.jsonl")
    bad.write_bytes(recorded(own).read_bytes()[:-10])
    out = own.folder / "out"
    done = own.run("run", NAME, "--actor", "recorded", "--format", "jsonl", "--out", str(out))
    assert (done.returncode, done.stdout.count(b"\n"), done.stderr.count(b"\n")) == (4, 1, 1)
    assert json.loads(done.stdout)["verdict"] == "pass"
    told = done.stderr.decode()
    assert str(bad) in told
    assert f"restore it from version control, or type: harness record {NAME} --actor ACTOR --replace" in told
    assert "format 1" not in told
    assert (out / "receipts.jsonl").read_bytes() == done.stdout


def test_every_mutation_of_a_recording_is_noticed(own: CommandLine) -> None:
    """Over all shipped recordings in the slow suite; here over the one with the fewest."""
    source = next(path for path in (REPOSITORY / "recordings" / NAME).iterdir() if "hasty" in path.stem)
    recorded(own).unlink()
    shutil.copy(source, recorded(own).parent)
    done = own.run("check", NAME, "--mutate-recording", "--format", "json")
    assert done.returncode == 0, done.stdout
    (report,) = json.loads(done.stdout)["recordings"]
    assert report["survivors"] == []
    assert report["mutations"] >= 25


def test_every_mutation_of_every_shipped_recording_is_noticed(line: CommandLine) -> None:
    for kind in ("scenarios", "recordings"):
        shutil.copytree(REPOSITORY / kind, line.cwd / kind)
    done = line.run("check", "--mutate-recording", "--format", "json")
    assert done.returncode == 0, done.stdout
    reports = json.loads(done.stdout)["recordings"]
    assert len(reports) == len(list((REPOSITORY / "recordings").rglob("*.jsonl")))
    assert sum(report["mutations"] for report in reports) >= 500
    assert [report["survivors"] for report in reports] == [[]] * len(reports)


def test_replays_are_byte_identical_in_any_place_year_and_executor(plane_home: Path, tmp_path: Path) -> None:
    """Each recording in two places and years; one of each scenario cold too, which takes ten times as long."""
    environ = {"HARNESS_HOME": str(plane_home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    place = wiring.settings(environ, REPOSITORY)
    seen: dict[str, str] = {}
    deep = tmp_path / "a-much-longer/temporary-directory"  # one with a space would not be used
    deep.mkdir(parents=True)
    ways = [(tmp_path, "warm", "2020"), (deep, "warm", "2031"), (deep, "cold", "2020")]
    with wiring.Session(place) as session, pytest.MonkeyPatch.context() as patch:
        for name in wiring.scenarios(place):
            loaded = wiring.load_scenario(place, name)
            plane = wiring.plane_identity(place, loaded.scenario.plane)
            for number, spec in enumerate(wiring.recorded_specs(place, loaded, None)):
                for temporary, executor, year in ways[: 2 if number else 3]:
                    patch.setattr("tempfile.tempdir", str(temporary))
                    options = EpisodeOptions.model_validate(
                        {"executor": executor, "plane_time": f"{year}-01-31T23:59:59+00:00"}
                    )
                    job = EpisodeJob(loaded=loaded, actor=spec, plane=plane, trial=spec.trial or 1, options=options)
                    text = canonical(session.run(job).receipt)
                    key = spec.recording or ""
                    assert seen.setdefault(key, text) == text, (key, executor, year)
    assert len(seen) == len(list((REPOSITORY / "recordings").rglob("*.jsonl")))
