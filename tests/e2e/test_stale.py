"""What a person is told about a recording that no longer fits: the part, the words, and a command that helps."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest
from command_line import CommandLine
from machine import PATIENCE_S

from harness import recording
from harness.redaction import SecretGuard

pytestmark = [pytest.mark.plane, pytest.mark.slow]

REPOSITORY = Path(__file__).resolve().parents[2]
NAME = "loopx/selected-todo"
KEY = "canary-of-a-key-0123456789"
OLD, NEW = "You carry out a single LoopX heartbeat", "You carry out one LoopX heartbeat"
ACTOR = "openai-compatible/good@BASE_URL"
COMMAND = f"harness record {NAME} --actor {ACTOR} --provenance simulated --stale-only --yes-spend"


@pytest.fixture
def own(line: CommandLine) -> CommandLine:
    """A folder with one scenario and its good recording."""
    for kind, name in (("scenarios", f"{NAME}.toml"), ("recordings", f"{NAME}/openai-compatible--good-39fb342b.jsonl")):
        (line.cwd / kind / name).parent.mkdir(parents=True)
        shutil.copy(REPOSITORY / kind / name, line.cwd / kind / name)
    return line


def edit(line: CommandLine, old: str, new: str) -> None:
    path = line.cwd / "scenarios" / f"{NAME}.toml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def checked(line: CommandLine) -> list[str]:
    """What check says of the recording, without the line of the scenario."""
    done = line.run("check", NAME)
    assert done.returncode in {0, 6}, done.stderr
    return done.stdout.decode().splitlines()[1:]


def test_check_shows_the_words_once_and_what_to_do(own: CommandLine) -> None:
    edit(own, OLD, NEW)
    assert checked(own) == [
        f"STALE  {NAME}  openai-compatible--good-39fb342b.jsonl  simulated",
        "  the scenario changed: prompt.system",
        "  the prompt changed",
        "    at        /messages/0/content",
        f"    recorded  “{OLD} with the tool exec_command, which works…”",
        f"    now       “{NEW} with the tool exec_command, which works in t…”",
        "  so exchanges 1 and 2 and step 1 were not reached",
        f"to record anew what is stale: {COMMAND}",
        "1 scenario is fine; 1 of 1 recording is stale",
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("deadline_s = 300.0", "deadline_s = 301.0", ["the scenario changed: limits.deadline_s"]),
        ("selected_action_before_quota", "too_early", ["the scenario changed: kind[selected_action].needs"]),
        ('"/rollout_event/event_id", ', "", ["the scenario changed: call.volatile"]),
    ],
)
def test_a_changed_rule_is_named_and_no_more(own: CommandLine, old: str, new: str, told: list[str]) -> None:
    edit(own, old, new)
    assert [line.strip() for line in checked(own)[1:-2]] == told


def test_a_title_a_tag_and_a_script_make_nothing_stale(own: CommandLine) -> None:
    edit(own, "The agent asks quota first", "It asks quota first")
    edit(own, '"tier:pr"]', '"tier:pr", "more"]')
    edit(own, "[script.right]", '[script.right]\nplain = ["{quota_guard_command}", "cat ./{source}"]')
    assert checked(own) == [
        f"fits  {NAME}  openai-compatible--good-39fb342b.jsonl  simulated",
        "1 scenario is fine; 1 recording fits",
    ]


def test_an_answer_that_changed_is_told_once_and_not_as_a_request_too(own: CommandLine) -> None:
    edit(own, "Inspect the contract in", "Look at the contract in")
    told = checked(own)
    assert told[1:3] == [
        "  the scenario changed: workspace.file[2].text",
        "  the control plane answered differently, step 1",
    ]
    assert told[-3] == "  so exchange 2 passed it on"
    assert not any("something else" in line or "reply" in line for line in told)


def test_a_file_without_parts_is_still_read_and_tells_that_the_scenario_changed(own: CommandLine) -> None:
    (path,) = (own.cwd / "recordings" / NAME).iterdir()
    kept = recording.load(path)
    older = recording.reseal(kept.model_copy(update={"header": kept.header.model_copy(update={"parts": None})}))
    recording.write(path, older, SecretGuard(), replace=True)
    assert b'"parts"' not in path.read_bytes()
    assert checked(own)[0].startswith("fits")
    edit(own, "deadline_s = 300.0", "deadline_s = 301.0")
    assert [line.strip() for line in checked(own)[1:3]] == ["the scenario changed", "at        /entry/scenario_digest"]


def test_a_key_that_a_prompt_holds_is_never_shown(own: CommandLine) -> None:
    edit(own, OLD, f"{KEY} carries out one LoopX heartbeat")
    own.environ["OPENAI_API_KEY"] = KEY
    told = "\n".join(checked(own))
    assert "[mask] carries out one LoopX heartbeat" in told
    assert KEY not in told


def test_json_has_plain_digests_and_calls_what_drifted_as_receipts_do(own: CommandLine) -> None:
    edit(own, OLD, NEW)
    told = json.loads(own.run("check", NAME, "--format", "json").stdout)
    drifts = told["recordings"][0]["drifts"]
    assert [drift["stale"] for drift in drifts][:2] == ["scenario", "prompt"]
    assert drifts[1]["recorded"].startswith("sha256:")
    assert all("cause" not in drift for drift in drifts)
    assert told["to_do"] == [COMMAND]


def test_reports_say_the_same_without_the_words_and_show_has_them(own: CommandLine) -> None:
    edit(own, OLD, NEW)
    done = own.run("run", NAME, "--actor", "recorded", "--out", "out")
    assert done.returncode == 6
    printed = done.stdout.decode()
    files = {path.name: path.read_text("utf-8") for path in (own.cwd / "out").iterdir()}
    for name in ("summary.md", "annotations.txt", "junit.xml", "report.html", "summary.txt"):
        text = files[name].replace("<wbr>", "")
        assert "the scenario changed: prompt.system" in text, name
        assert "the prompt changed" in text
        assert "/messages/0/content" in text
        assert f"harness check {NAME} shows the words" in text
        assert COMMAND in text
        assert "nothing until recorded anew" in text
        assert "no longer what was recorded" not in text
    assert not any("LoopX heartbeat" in text for text in (*files.values(), printed))
    assert f"      {COMMAND}" in printed.splitlines()
    shown = own.run("show", "out/1").stdout.decode()
    assert f"now      “{NEW}" in shown
    assert COMMAND in shown
    edit(own, NEW, OLD)
    assert "shows the words" in own.run("show", "out/1").stdout.decode()


def test_with_a_warning_nothing_is_an_error(own: CommandLine) -> None:
    edit(own, "deadline_s = 300.0", "deadline_s = 301.0")
    done = own.run("run", NAME, "--actor", "recorded", "--out", "out", "--stale", "warn")
    assert (done.returncode, done.stdout.decode().splitlines()[0]) == (0, "0 of 1 passed, 1 stale")
    annotations = (own.cwd / "out/annotations.txt").read_text("utf-8")
    assert "::warning " in annotations
    assert "::error" not in annotations
    assert 'failures="0" errors="0" skipped="1"' in (own.cwd / "out/junit.xml").read_text("utf-8")
    assert "1 recording no longer fits: it proves nothing until recorded anew" in (
        own.cwd / "out/summary.md"
    ).read_text("utf-8")


@pytest.mark.slow
def test_the_command_that_is_told_records_anew(own: CommandLine) -> None:
    edit(own, "deadline_s = 300.0", "deadline_s = 301.0")
    command = checked(own)[-2].partition(": ")[2]
    served = own.start("wire", "rehearse", NAME)
    try:
        assert served.stdout is not None
        address = json.loads(served.stdout.readline())["url"]
        done = own.run(*shlex.split(command.replace("BASE_URL", address))[1:])
        assert (done.returncode, done.stderr) == (0, b"")
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)
    assert checked(own)[0].startswith("fits")
