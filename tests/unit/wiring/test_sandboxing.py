"""What a run says of its sandbox is what was seen, and where something must hold and nothing does it is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confined import offered
from toy import IDENTITY, SCENARIO, SCRIPTED, merged

from harness.errors import EnvironmentProblem
from harness.executors import sandbox
from harness.executors.process import ProcessExecutor
from harness.provision import InstalledPlane
from harness.schema.actor import ActorSpec
from harness.schema.confinement import Confinement, Hold, level_of, weakest
from harness.schema.process import Completed, PlaneIdentity, ProcessCommand
from harness.schema.run import EpisodeJob, EpisodeOptions
from harness.schema.scenario import LoadedScenario, Scenario
from harness.wiring import sandboxing
from harness.workspace import reserve

ALL: tuple[Hold, ...] = ("writes", "attributes", "tcp", "udp", "unix", "processes")


class Spoiled:
    """An executor whose command does not do its work."""

    def run(self, command: ProcessCommand) -> Completed:
        """Nothing happens."""
        del command
        return Completed(exit_code=0, stdout=b"[]", stderr=b"", stdout_seen=2, stderr_seen=0)

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def anew() -> Iterator[None]:
    """Measured in the test, and forgotten after it."""
    sandboxing.measured.cache_clear()
    yield
    sandboxing.measured.cache_clear()


def _folders(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    return tmp_path / "inside", tmp_path / "outside"


def test_what_the_kernel_offers_is_seen_to_hold(anew: None) -> None:
    found, means = sandboxing.measured(), offered()
    assert {mean.partition("-")[0] for mean in found.means} == means
    assert ("writes" in found.held) == bool(means & {"landlock", "namespaces"})
    if means == {"landlock", "namespaces", "seccomp"}:
        assert (found.held, found.level) == (ALL, "filesystem+network")


def test_without_a_sandbox_everything_is_seen_to_be_open(tmp_path: Path) -> None:
    executor = ProcessExecutor()
    assert sandbox.measure(executor, *_folders(tmp_path)) == ()
    assert not (tmp_path / "outside" / "kept").exists()
    executor.close()


def test_a_probe_that_does_not_do_its_work_proves_nothing(tmp_path: Path) -> None:
    assert sandbox.measure(Spoiled(), *_folders(tmp_path)) == ()


@pytest.mark.parametrize(
    ("held", "level"),
    [
        ((), "none"),
        (("tcp", "udp", "unix"), "none"),
        (("writes", "attributes", "processes"), "filesystem"),
        (("writes", "tcp", "unix"), "filesystem"),
        (("writes", "tcp", "udp", "unix"), "filesystem+network"),
    ],
)
def test_the_level_is_the_least_that_its_word_says(held: tuple[Hold, ...], level: str) -> None:
    assert level_of(held) == level


def test_of_several_only_what_held_in_all_holds() -> None:
    whole = Confinement(held=ALL, means=("landlock-7", "seccomp"))
    part = Confinement(held=("writes", "tcp"), means=("landlock-7",))
    assert weakest([whole]) == whole
    assert weakest([whole, part]) == weakest([part, whole]) == part
    assert weakest([part, Confinement()]) == Confinement()


def test_where_nothing_can_be_held_it_runs_or_refuses_as_it_was_told(
    anew: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProcessExecutor, "ways", lambda _: ())
    assert sandboxing.confinement("auto") == sandboxing.confinement("off") == Confinement()
    with pytest.raises(EnvironmentProblem, match=r"^--require-sandbox: nothing keeps what is run"):
        sandboxing.confinement("require")


def test_a_sandbox_that_cannot_be_tried_is_told_with_what_to_do(anew: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(EnvironmentProblem, match=r"could not be tried: .*; --sandbox off runs without it$"):
        sandboxing.measured()


def test_a_command_may_write_in_the_whole_workspace_and_not_beside_it() -> None:
    if not offered() & {"landlock", "namespaces"}:
        pytest.skip("this kernel offers nothing")
    executor = ProcessExecutor(confined=True)
    with reserve(roots=("project", "runtime"), absent=("runtime",)) as workspace:
        inside = sandboxing.InWorkspace(executor, workspace)
        script = "mkdir ../runtime && echo made > ../runtime/file && echo out > ../../beside"
        done = inside.run(ProcessCommand(argv=("/bin/sh", "-c", script), cwd=str(workspace.cwd), env={}))
        assert (done.exit_code, (workspace.root / "runtime" / "file").read_text("utf-8")) == (2, "made\n")
        assert not (workspace.root.parent / "beside").exists()
    executor.close()


def _job(sandbox: str, grammar: str) -> EpisodeJob:
    changed = merged(SCENARIO, {"tool": {"exec": {"grammar": grammar}}})
    scenario = Scenario.model_validate_json(json.dumps(changed))
    return EpisodeJob(
        loaded=LoadedScenario(scenario=scenario, digest="sha256:0", path="toy.toml"),
        actor=ActorSpec(identity=SCRIPTED),
        plane=IDENTITY,
        options=EpisodeOptions.model_validate({"sandbox": sandbox}),
    )


WHOLE = Confinement(held=ALL, means=("landlock-7", "seccomp", "namespaces-user"))


@pytest.mark.parametrize(
    ("found", "sandbox", "is_fine"),
    [
        (WHOLE, "auto", True),
        (WHOLE, "require", True),
        (WHOLE, "off", False),
        (WHOLE.model_copy(update={"means": ("landlock-7", "seccomp")}), "auto", False),
        (WHOLE.model_copy(update={"held": ("writes", "tcp", "unix")}), "auto", False),
        (Confinement(), "auto", False),
    ],
)
def test_a_free_shell_is_refused_where_it_cannot_be_shut_in(
    monkeypatch: pytest.MonkeyPatch, found: Confinement, sandbox: str, is_fine: bool
) -> None:
    monkeypatch.setattr(sandboxing, "measured", lambda: found)
    sandboxing.require_room_for_shells(_job(sandbox, "loopx-0.4"))
    if is_fine:
        sandboxing.require_room_for_shells(_job(sandbox, "sandboxed-shell"))
        return
    with pytest.raises(EnvironmentProblem, match=r"^scenario toy/ask-then-read: the tool 'exec' is a shell"):
        sandboxing.require_room_for_shells(_job(sandbox, "sandboxed-shell"))


@pytest.mark.parametrize(
    ("means", "node", "refused"),
    [
        (("landlock-7", "seccomp", "namespaces-user"), True, False),
        (("landlock-7", "seccomp"), True, True),
        (("landlock-7", "seccomp"), False, False),
        ((), True, False),
    ],
)
def test_a_plane_that_asks_itself_over_loopback_needs_namespaces_where_it_is_confined(
    monkeypatch: pytest.MonkeyPatch, means: tuple[str, ...], node: bool, refused: bool
) -> None:
    monkeypatch.setattr(sandboxing, "measured", lambda: Confinement(held=(), means=means))
    identity = PlaneIdentity(name="loopx", version="2.1.1", wheel_sha256="ab")
    plane = InstalledPlane(identity, Path("python"), Path("root"), Path("node/24/bin") if node else None)
    if refused:
        with pytest.raises(EnvironmentProblem, match=r"loopx==2.1.1 starts Node\.js .* --sandbox off runs it as it is"):
            sandboxing.require_loopback(plane, "auto")
        sandboxing.require_loopback(plane, "off")
    else:
        sandboxing.require_loopback(plane, "auto")
