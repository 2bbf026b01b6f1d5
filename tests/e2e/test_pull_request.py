"""The workflow that we hand out: its steps, run as a runner would run them, in a repository of its own."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from command_line import CommandLine
from machine import PATIENCE_S
from workflow_steps import performed, steps, variables

pytestmark = [pytest.mark.plane, pytest.mark.slow]

REPOSITORY = Path(__file__).resolve().parent.parent.parent
WORKFLOW = (REPOSITORY / "docs/examples/harness-pull-request.yml").read_text("utf-8")
SCENARIO = "scenarios/loopx/selected-todo.toml"


@pytest.fixture
def repository(line: CommandLine) -> CommandLine:
    """A repository with one scenario and one recording, which was made from a simulated provider."""
    (line.cwd / SCENARIO).parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / SCENARIO, line.cwd / SCENARIO)
    served = line.start("wire", "rehearse", "loopx/selected-todo")
    try:
        assert served.stdout is not None
        address = json.loads(served.stdout.readline())["url"]
        actor = f"openai-compatible/good@{address}"
        argv = ["record", "loopx/selected-todo", "--actor", actor, "--yes-spend", "--provenance", "simulated"]
        done = line.run(*argv)
        assert (done.returncode, done.stderr) == (0, b"")
    finally:
        served.terminate()
        served.communicate(timeout=PATIENCE_S)
    return line


def perform(line: CommandLine, step: str) -> tuple[int, str]:
    """Exit code and standard output of one step, in the shell that a runner uses."""
    done = performed(WORKFLOW, step, line, {})
    return done.returncode, done.stdout.decode()


INSTALL, REPLAY, TELL = "Install the control plane, and hold it against its hash", "Replay", "Tell"


def test_the_steps_are_those_that_are_run_here() -> None:
    assert list(steps(WORKFLOW)) == ["Install harness", INSTALL, REPLAY, TELL]
    assert steps(WORKFLOW)["Install harness"] == 'python -m pip install "$HARNESS"'
    assert variables(WORKFLOW)["HARNESS"].startswith("behavior-harness==")


def test_the_workflow_replays_and_tells_what_drifted(repository: CommandLine) -> None:
    code, shown = perform(repository, INSTALL)
    assert (code, variables(WORKFLOW)["PLANE_WHEEL"] in shown) == (0, True)

    code, shown = perform(repository, REPLAY)
    assert (code, shown.splitlines()[0]) == (0, "1 of 1 passed")
    assert perform(repository, TELL)[0] == 0
    assert "| ✅ passed | `loopx/selected-todo` |" in (repository.folder / "page.md").read_text("utf-8")

    shutil.rmtree(repository.cwd / "harness-run")
    scenario = repository.cwd / SCENARIO
    scenario.write_text(scenario.read_text("utf-8").replace("You carry out", "You always carry out", 1), "utf-8")
    code, _ = perform(repository, REPLAY)
    assert code == 6
    shown = repository.run("show", "harness-run/1").stdout.decode()
    assert "the prompt changed at /messages/0/content" in shown
    shown = repository.run("show", "harness-run/1", "--transcript").stdout.decode()
    assert "Exchange 2 of 2" in shown
    code, shown = perform(repository, TELL)
    assert code == 0
    title = r"title=loopx/selected-todo%2C recorded%3A[\w-]+%3A the recording no longer fits::"
    assert re.search(f"::error file={SCENARIO},line=1,{title}", shown)
    page = (repository.folder / "page.md").read_text("utf-8")
    assert "the prompt changed at /messages/0/content" in page
    assert "--stale-only --yes-spend" in page
