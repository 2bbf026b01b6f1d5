"""pytest in somebody's own repository: scenarios are tests, receipts are snapshots, nothing stays unnoticed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from testing_project import SCENARIO, Project

from harness.recording import dump, load, reseal

pytestmark = [pytest.mark.plane, pytest.mark.slow]

GOOD, BAD = "openai-compatible--good-39fb342b", "openai-compatible--bad-aedaec93"
FOLDER = "snapshots/team/look"
ALL = ("--harness-actor=recorded", "--harness-actor=all-scripts")


def outcome(done: subprocess.CompletedProcess[str]) -> str:
    """The counts of the last line."""
    return re.sub(r" in [\d.]+s.*", "", done.stdout.splitlines()[-1]).strip("= ")


def accept(project: Project, *argv: str) -> None:
    done = project.pytest("-q", "--snapshot-update", *argv)
    assert done.returncode == 0, done.stdout + done.stderr


#: Lines that are there to be copied, whole.
COPIED = ("snapshot: ", "if that is", "to record anew: ")


def wide(text: str) -> list[str]:
    """Lines that do not fit, those left out that are there to be copied."""
    return [line for line in text.splitlines() if len(line) > 80 and not line.startswith(COPIED)]


def test_without_a_snapshot_a_test_fails_and_says_how_to_accept(project: Project) -> None:
    done = project.pytest("-q")
    assert done.returncode == 1
    assert outcome(done) == "3 failed"
    assert f"scenario team/look, actor recorded:{BAD}" in done.stdout
    assert "there is no snapshot yet; got fail" in done.stdout
    assert "step 1: look, no code, succeeded" in done.stdout
    assert "if that is right: pytest --snapshot-update scenarios/team/look.toml::script:reference" in done.stdout
    assert wide(done.stdout) == []
    assert project.snapshots() == {}


def test_what_was_accepted_passes_the_recorded_failure_too(accepted: Project) -> None:
    kept = accepted.snapshots()
    assert list(kept) == [
        f"{FOLDER}/{name}.json" for name in (f"recorded-{BAD}", f"recorded-{GOOD}", "script-reference")
    ]
    assert [json.loads(text)["verdict"] for text in kept.values()] == ["fail", "pass", "pass"]
    done = accepted.pytest("-q", "-n", "2", "--durations=1")
    assert done.returncode == 0, done.stdout
    assert outcome(done) == "3 passed"
    assert "call     scenarios/team/look.toml::" in done.stdout
    assert accepted.snapshots() == kept


def test_d002_workers_write_what_one_process_writes_and_delete_nothing_that_is_used(project: Project) -> None:
    accept(project, *ALL)
    serial = project.snapshots()
    assert len(serial) == 6
    changed = sorted(serial)[:2]
    for name in changed:
        project.write(name, "{}")
    (project.folder / sorted(serial)[3]).unlink()
    accept(project, *ALL, "-n", "2")
    assert project.snapshots() == serial


def test_a_part_of_the_tests_proves_nothing_about_the_other_snapshots(project: Project) -> None:
    accept(project, *ALL)
    kept = project.snapshots()
    for part in (("-k", "reference"), (f"scenarios/team/look.toml::recorded:{GOOD}",), ("--harness-actor=script",)):
        done = project.pytest("-q", "--snapshot-update", *part)
        assert done.returncode == 0, done.stdout
        assert outcome(done).startswith("1 passed")
        assert project.snapshots() == kept


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["serial", "workers"])
def test_snapshots_that_nobody_asks_for_fail_the_session_and_go_with_an_update(
    accepted: Project, workers: tuple[str, ...]
) -> None:
    kept = accepted.snapshots()
    gone = (f"{FOLDER}/script-gone.json", "snapshots/team/gone/script-reference.json", "snapshots/old/x/script-a.json")
    for name in gone:
        accepted.write(name, "{}")
    done = accepted.pytest("-q", *workers)
    assert done.returncode == 1
    assert outcome(done) == "3 passed, 3 left over"
    assert [line for line in done.stdout.splitlines() if line.startswith("unused snapshot: ")] == [
        f"unused snapshot: {name}" for name in sorted(gone)
    ]
    done = accepted.pytest("-q", "--snapshot-update", *workers)
    assert done.returncode == 0, done.stdout
    # the process that tells it is the one that deleted them
    assert done.stdout.count("unused snapshot, removed: ") == len(gone)
    assert accepted.snapshots() == kept
    assert not (accepted.folder / "snapshots" / "team" / "gone").exists()


def test_recordings_without_a_scenario_and_halves_of_recordings_fail_the_session(accepted: Project) -> None:
    accepted.write("recordings/team/gone/openai--x.jsonl", "")
    accepted.write(f"recordings/team/look/{GOOD}.jsonl.partial", "")
    done = accepted.pytest("-q", "-n", "2")
    assert done.returncode == 1
    assert outcome(done) == "3 passed, 2 left over"
    assert "recording without a scenario: recordings/team/gone/openai--x.jsonl" in done.stdout
    half = f"half a recording, 0 exchanges: recordings/team/look/{GOOD}.jsonl.partial; recording was interrupted"
    assert half in done.stdout
    assert accepted.pytest("-q", "-k", "reference").returncode == 0


def test_a_copy_of_a_recording_is_a_test_that_fails_and_says_of_what(accepted: Project) -> None:
    kept = accepted.folder / f"recordings/team/look/{GOOD}.jsonl"
    shutil.copy(kept, kept.with_name("zz-copy.jsonl"))
    accepted.write("recordings/team/look/zzz-damaged.jsonl", "{}")
    done = accepted.pytest("-q", "--harness-actor=recorded", "-n", "2")
    assert done.returncode == 1
    assert outcome(done) == "2 failed, 2 passed"
    assert f"recorded:zz-copy: records the same episode as recorded:{GOOD} (same actor and trial)" in done.stdout


def test_a_stale_recording_fails_with_its_causes_and_cannot_be_accepted(accepted: Project) -> None:
    kept = accepted.snapshots()
    file = accepted.scenario()
    file.write_text(file.read_text("utf-8").replace('"answer": 42', '"answer": 43'), "utf-8")
    done = accepted.pytest("-q", "--snapshot-update", "--harness-actor=recorded")
    assert done.returncode == 1
    assert "the recording is stale and proves nothing until it is recorded anew" in " ".join(done.stdout.split())
    assert "the scenario changed: workspace.file[0].text" in done.stdout
    assert re.search(r"^to record anew: harness record team/look --actor \S+ .*--yes-spend$", done.stdout, re.MULTILINE)
    assert wide(done.stdout) == []
    assert accepted.snapshots() == kept


def test_a_request_that_was_never_recorded_is_told_with_its_pointer(accepted: Project) -> None:
    path = accepted.folder / f"recordings/team/look/{GOOD}.jsonl"
    kept = load(path)
    first = kept.exchanges[0]
    body = json.loads(json.dumps(first.request.body).replace("Read right.json.", "Read another.json."))
    request = first.request.model_copy(update={"body": body})
    asked = (first.model_copy(update={"request": request}), *kept.exchanges[1:])
    altered = reseal(kept.model_copy(update={"exchanges": asked}))
    path.write_bytes(dump(altered.header, altered.exchanges, altered.answers))
    done = accepted.pytest("-q", "-k", "good")
    assert done.returncode == 1
    assert "the model was asked something else" in done.stdout
    assert re.search(r"^  at        /messages/\d/content$", done.stdout, re.MULTILINE)
    assert wide(done.stdout) == []


def test_a_receipt_that_differs_is_told_in_words(accepted: Project) -> None:
    name = f"{FOLDER}/script-reference.json"
    told = json.loads(accepted.snapshots()[name])
    told["steps"][0].update(kind="astray", code="wrong_file")
    told.update(verdict="fail", failure_code="wrong_file")
    accepted.write(name, json.dumps(told))
    done = accepted.pytest("-q", "-k", "reference")
    assert done.returncode == 1
    body = done.stdout.partition("FAILURES")[2]
    assert "scenario team/look, actor script:reference" in body
    assert "verdict: expected fail wrong_file (completed/scenario_satisfied), got pass" in body
    assert "step 1: expected astray, wrong_file, succeeded" in body
    assert "step 1: got look, no code, succeeded" in body
    assert "/steps/0/kind" in body
    assert "{" not in body
    assert wide(body) == []


def test_d004_a_snapshot_that_holds_no_number_equals_nothing_and_none_is_written(accepted: Project) -> None:
    name = f"{FOLDER}/script-reference.json"
    strict = accepted.snapshots()[name]
    assert json.loads(strict, parse_constant=pytest.fail)
    accepted.write(name, strict.decode().replace('"trial": 1', '"trial": NaN'))
    done = accepted.pytest("-q", "-k", "reference")
    assert done.returncode == 1
    assert "the snapshot is no strict JSON: it holds NaN" in done.stdout


def test_a_recording_that_cannot_be_read_fails_alone(accepted: Project) -> None:
    accepted.write(f"recordings/team/look/{BAD}.jsonl", "broken\n")
    done = accepted.pytest("-q")
    assert outcome(done) == "1 failed, 2 passed"
    assert "recording_unreadable" in done.stdout
    assert "playing.py" not in done.stdout


def test_a_plane_that_is_not_installed_is_told_with_the_line_to_type(project: Project) -> None:
    done = project.pytest("-q", "--harness-actor=script", HARNESS_HOME=str(project.folder / "nowhere"))
    assert done.returncode == 1
    assert done.stdout.count("type: harness plane install loopx==0.4.8") == 1
    assert "playing.py" not in done.stdout


def test_scripts_are_played_as_often_as_asked_and_the_failed_ones_again(project: Project) -> None:
    accept(project, *ALL)
    listed = project.pytest("-q", "--collect-only", "--harness-actor=script:slowly", "--harness-trials=2")
    assert listed.stdout.splitlines()[:2] == [f"scenarios/team/look.toml::script:slowly#{n}" for n in (1, 2)]
    project.write(f"{FOLDER}/script-gave_up.json", "{}")
    done = project.pytest("-q", *ALL, "--harness-trials=2")
    assert outcome(done) == "2 failed, 8 passed"
    again = project.pytest("-q", *ALL, "--harness-trials=2", "--lf")
    assert outcome(again) == "2 failed"
    assert "the snapshot is no receipt of this version of harness" in again.stdout


def test_recordings_are_chosen_by_id_or_short_name_and_an_unknown_one_is_told_with_those_there_are(
    accepted: Project,
) -> None:
    done = accepted.pytest("-q", "--collect-only", "--harness-actor=recorded:bad", f"--harness-actor=recorded:{GOOD}")
    assert done.stdout.splitlines()[:2] == [f"scenarios/team/look.toml::recorded:{name}" for name in (BAD, GOOD)]
    done = accepted.pytest("-q", "--harness-actor=recorded:bad")
    assert (done.returncode, outcome(done)) == (0, "1 passed")
    done = accepted.pytest("-q", "--harness-actor=recorded:nobody")
    assert done.returncode == 4
    there = f"there are: recorded:{BAD}, recorded:{GOOD}"
    assert f"harness: no collected scenario has recorded:nobody; {there}" in done.stdout + done.stderr


SETTINGS = "[pytest]\nharness_actors = script script:gave_up\nharness_snapshots = kept\n"


def test_the_configuration_file_says_who_plays_and_where_things_lie(project: Project) -> None:
    (project.folder / "scenarios").rename(project.folder / "cases")
    project.write("pytest.ini", f"{SETTINGS}harness_scenarios = more cases\n")
    project.scenario("team/other").rename(project.write("more/team/other.toml", ""))
    accept(project)
    kept = [f"kept/team/{name}/script-{actor}.json" for name in ("look", "other") for actor in ("gave_up", "reference")]
    assert list(project.snapshots()) == kept
    project.write("kept/team/gone/script-gone.json", "{}")
    accept(project, "cases")
    assert len(project.snapshots()) == len(kept) + 1
    accept(project)
    assert list(project.snapshots()) == kept


def test_one_folder_of_snapshots_is_not_judged_by_some_of_its_scenarios(bare: Project) -> None:
    bare.write("pytest.ini", SETTINGS)
    for place in ("a", "b"):
        bare.scenario(f"team/{place}").rename(bare.write(f"{place}/scenarios/team/{place}.toml", ""))
    accept(bare)
    kept = bare.snapshots()
    accept(bare, "a")
    assert bare.snapshots() == kept


def test_a_variant_is_played_too_and_has_snapshots_of_its_own(project: Project) -> None:
    text = SCENARIO.replace("team/look", "team/two") + "\n[variant.other]\nlimits.model_turns = 2\n"
    project.scenario("team/two", text)
    accept(project, "scenarios/team/two.toml")
    kept = [name for name in project.snapshots() if "/two" in name]
    assert kept == [f"snapshots/team/{name}/script-reference.json" for name in ("two", "two-other")]
    done = project.pytest("-q", "-W", "error", "scenarios/team/two.toml::other/script:reference")
    assert (done.returncode, outcome(done)) == (0, "1 passed"), done.stdout
