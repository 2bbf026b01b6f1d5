"""What a run's children are confined by: measured once in a process, and given to each of their commands."""

from __future__ import annotations

from functools import cache

from harness import catalog
from harness.command import FREE_GRAMMARS
from harness.errors import EnvironmentProblem, EpisodeError
from harness.ports import Executor
from harness.provision import InstalledPlane
from harness.schema.confinement import Confinement
from harness.schema.process import Completed, ProcessCommand
from harness.schema.run import EpisodeJob
from harness.workspace import Workspace, reserve

__all__ = ["InWorkspace", "confinement", "measured", "require_loopback", "require_room_for_shells"]


class InWorkspace:
    """Runs commands that write in one workspace only, where the executor confines them; closes nothing."""

    def __init__(self, executor: Executor, workspace: Workspace) -> None:
        self._executor, self._folder = executor, str(workspace.root)

    def run(self, command: ProcessCommand) -> Completed:
        """As the executor does."""
        return self._executor.run(command.model_copy(update={"folder": self._folder}))

    def close(self) -> None:
        """Nothing of its own is open; idempotent."""


@cache
def measured() -> Confinement:
    """What holds on this machine for this user. Raises EnvironmentProblem where nothing can be run at all."""
    executor = catalog.module("executors", "process").ProcessExecutor(confined=True)
    try:
        means = executor.ways()
        if not means:
            return Confinement()
        with reserve(roots=("inside", "outside"), cwd="inside") as place:
            measure = catalog.module("executors", "sandbox").measure
            held = measure(executor, place.roots["inside"], place.roots["outside"])
    except (EpisodeError, OSError) as error:
        raise EnvironmentProblem(f"the sandbox could not be tried: {error}; --sandbox off runs without it") from error
    finally:
        executor.close()
    return Confinement(held=held, means=means)


def confinement(sandbox: str) -> Confinement:
    """What holds in a run, by what its options say: ``auto``, ``require`` or ``off``.

    Raises EnvironmentProblem where it could not be tried, or nothing is held and something must be.
    """
    found = Confinement() if sandbox == "off" else measured()
    if sandbox == "require" and found.level == "none":
        raise EnvironmentProblem(
            "--require-sandbox: nothing keeps what is run to its workspace here: neither Landlock (Linux 6.2 or newer)"
            " nor namespaces can be used; see harness doctor, or run without that option"
        )
    return found


def require_loopback(plane: InstalledPlane, sandbox: str) -> None:
    """Raise EnvironmentProblem where a control plane talks to itself over loopback, and cannot be given one alone."""
    if plane.node is None:
        return
    means = confinement(sandbox).means
    if means and not any(mean.startswith("namespaces") for mean in means):
        raise EnvironmentProblem(
            f"control plane {plane.identity.ref} starts Node.js and asks it over loopback, which only namespaces give"
            " it alone; this machine confines without them: --sandbox off runs it as it is"
        )


def require_room_for_shells(job: EpisodeJob) -> None:
    """Raise EnvironmentProblem where a tool is a free shell, and none can be shut in here."""
    scenario = job.loaded.scenario
    free = [name for name, tool in scenario.command_tools.items() if tool.grammar in FREE_GRAMMARS]
    if not free:
        return
    found = confinement(job.options.sandbox)
    if found.level == "filesystem+network" and any(mean.startswith("namespaces") for mean in found.means):
        return
    raise EnvironmentProblem(
        f"scenario {scenario.id}: the tool {free[0]!r} is a shell, which runs in a whole sandbox only: namespaces,"
        " nothing written outside and nobody reached; see harness doctor, and leave out --sandbox off"
    )
