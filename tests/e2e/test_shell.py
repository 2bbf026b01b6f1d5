"""A tool that is a free shell: it really runs, in its workspace only, and what it changes is judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confined import offered

from harness import wiring
from harness.errors import EnvironmentProblem
from harness.receipt import canonical
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeJob, EpisodeOptions

SCENARIO = """
schema = 1
id = "mine/shout"
asks = "Write the note in capitals."
plane = "registry"

[workspace]
roots = ["project"]
[[workspace.file]]
at = ["project/note.txt"]
text = "quietly\\n"

[prompt]
user = "Write note.txt in capitals to out/loud.txt."

[tool.shell]
about = "Runs a command with sh."
argument = "cmd"
grammar = "sandboxed-shell"

[[kind]]
name = "command"
tool = "shell"
read = "other"
failed = "command_failed"
sets = "wrote"

[end]
accept = ["wrote"]
[[end.silence]]
code = "wrote_nothing"

[boundary]
tool_writes = ["project/out/**"]

[script]
reference = ["mkdir out && tr a-z A-Z < note.txt > out/loud.txt && test \\"$(cat out/loud.txt)\\" = QUIETLY"]
wrong = { command_failed = ["cat /etc/passwd"] }
"""


@pytest.fixture
def place(tmp_path: Path) -> wiring.Settings:
    (tmp_path / "scenarios/mine").mkdir(parents=True)
    (tmp_path / "scenarios/mine/shout.toml").write_text(SCENARIO, "utf-8")
    return wiring.settings({"HARNESS_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}, tmp_path)


def play(place: wiring.Settings, actor: str, *, sandbox: str = "auto") -> Receipt:
    one = wiring.load_scenario(place, "mine/shout")
    plane = wiring.plane_identity(place, one.scenario.plane)
    spec = wiring.actor_specs(place, f"script:{actor}", one, ())[0]
    options = EpisodeOptions.model_validate({"sandbox": sandbox})
    with wiring.Session(place) as session:
        return session.run(EpisodeJob(loaded=one, actor=spec, plane=plane, options=options)).receipt


def script(place: wiring.Settings, *commands: str) -> str:
    """A file with one script of these commands."""
    path = place.cwd / "script.json"
    path.write_text(json.dumps({"scripts": {"mine": {"actions": list(commands)}}}), "utf-8")
    return str(path)


needs_namespaces = pytest.mark.skipif(
    offered() != {"landlock", "namespaces", "seccomp"}, reason="this kernel offers not all of it"
)


@needs_namespaces
def test_the_shell_does_its_work_and_what_it_wrote_is_seen(place: wiring.Settings) -> None:
    receipt = play(place, "reference")
    assert (receipt.verdict, receipt.outcome.name) == ("pass", "completed/scenario_satisfied")
    assert canonical(receipt) == canonical(play(place, "reference"))
    seen = [(change.path.partition("/sha256")[0], change.by, change.allowed) for change in receipt.boundary.changes]
    assert seen == [("project/out", "tool", True)] * len(seen) != []


@needs_namespaces
@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/passwd",
        "touch ../../beside",
        "touch ~/../../../new /new",
        "ls /root /home",
        f"cat {Path(__file__)}",
    ],
)
def test_nothing_of_the_host_is_there(place: wiring.Settings, command: str) -> None:
    receipt = play(place, script(place, command))
    assert (receipt.verdict, receipt.failure_code) == ("fail", "command_failed")


@needs_namespaces
def test_a_change_that_the_scenario_does_not_allow_fails_it(place: wiring.Settings) -> None:
    receipt = play(place, script(place, "echo x > note.txt"))
    assert receipt.verdict == "fail"
    assert "project/note.txt" in canonical(receipt)


def test_without_a_sandbox_the_shell_is_refused(place: wiring.Settings) -> None:
    with pytest.raises(EnvironmentProblem, match=r"^scenario mine/shout: the tool 'shell' is a shell"):
        play(place, "reference", sandbox="off")
