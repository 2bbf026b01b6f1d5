"""The nightly workflow that we hand out: its steps, run as a runner would run them, against a simulated provider."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command_line import CommandLine
from machine import PATIENCE_S
from workflow_steps import performed, steps

pytestmark = [pytest.mark.plane, pytest.mark.slow]

REPOSITORY = Path(__file__).resolve().parent.parent.parent
WORKFLOW = (REPOSITORY / "docs/examples/harness-nightly.yml").read_text("utf-8")
ACTOR = """[actors.candidate]
provider = "openai-compatible"
model = "my-model"
base_url = "{url}"
max_output_tokens = 1000
[actors.candidate.price]
input = 1
output = 2
"""
INSTALL = "Install the control plane, and look at what is set"
CHECK, PLAY, TELL = "Hold the scenarios against their own scripts", "Play", "Tell"
FETCH, CHANGES, DECIDE = "Fetch last night's run", "Tell what is different", "Decide"


def perform(line: CommandLine, step: str, trials: int = 4) -> tuple[int, str]:
    """Exit code and standard output of one step, in the shell that a runner uses."""
    done = performed(WORKFLOW, step, line, {"SCENARIOS": "registry/reports-blocked-honestly", "TRIALS": str(trials)})
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def night(line: CommandLine, passes: float) -> None:
    """What is played while a model passes so often; last night's run stands beside tonight's."""
    argv = ["wire", "rehearse", "registry/reports-blocked-honestly", "--pass-rate", f"my-model={passes}"]
    served = line.start(*argv)
    try:
        assert served.stdout is not None
        address = json.loads(served.stdout.readline())["url"]
        (line.cwd / "harness.toml").write_text(ACTOR.format(url=address), "utf-8")
        code, shown = perform(line, PLAY)
        assert (code, "of 4 passed" in shown) == (0, True), shown
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)


def test_the_steps_are_those_that_are_run_here() -> None:
    assert list(steps(WORKFLOW)) == ["Install harness", INSTALL, CHECK, PLAY, TELL, FETCH, CHANGES, DECIDE]
    assert "--max-cost" in steps(WORKFLOW)[PLAY]


def test_a_night_is_played_told_held_against_the_one_before_and_decided(line: CommandLine) -> None:
    (line.cwd / "policy.toml").write_text("schema = 1\nevery = true\n", "utf-8")
    code, shown = perform(line, CHECK)
    assert (code, "fine" in shown) == (0, True)

    night(line, 1.0)
    assert perform(line, TELL)[0] == 0
    code, shown = perform(line, DECIDE)
    assert (code, "candidate: PASS by policy.toml" in shown) == (0, True), shown

    shutil.move(line.cwd / "tonight", line.cwd / "last-night")
    night(line, 0.0)
    code, shown = perform(line, CHANGES)
    assert (code, "fails now" in shown) == (0, True), shown
    code, shown = perform(line, DECIDE)
    assert (code, "candidate: FAIL by policy.toml" in shown) == (1, True), shown
    page = (line.folder / "page.md").read_text("utf-8")
    assert "fails now" in page
    assert "candidate: FAIL" in page
