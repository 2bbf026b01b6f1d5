"""The loopx control plane: its real command line, in an environment by allow-list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from harness.errors import ControlPlaneError
from harness.ports import Executor
from harness.provision import InstalledPlane, ensure_layout, packages
from harness.schema.process import Completed, PlaneIdentity, ProcessCommand
from harness.workspace import git_environment

__all__ = ["ENVIRONMENT", "MODULE", "NAME", "LoopxPlane", "open_plane"]

NAME = "loopx"

#: What ``python -m`` runs; its function ``build_parser`` can be prepared once.
MODULE = "loopx.cli"

#: The same for every call. What is not here or in ``_environment`` never reaches the plane: no key, no ``LOOPX_*``.
_FIXED = {
    # One encoding, one language, one time zone, whatever the owner's are.
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    # Sets print in one order; a file that an actor wrote is never imported; bytecode is there since installation.
    "PYTHONHASHSEED": "0",
    "PYTHONSAFEPATH": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    # Newer versions tell their makers of each use, unless they are asked not to.
    "DO_NOT_TRACK": "1",
}

#: The names of all variables that the plane's process gets.
ENVIRONMENT: tuple[str, ...] = tuple(sorted((*_FIXED, *git_environment(Path("/")), "HOME", "PATH", "TMPDIR")))


class LoopxPlane:
    """loopx on one workspace. The executor is the opener's and may serve many planes at once."""

    def __init__(self, installed: InstalledPlane, executor: Executor, cwd: Path, env: dict[str, str]) -> None:
        self._installed, self._executor, self._cwd, self._env = installed, executor, cwd, env

    @property
    def identity(self) -> PlaneIdentity:
        """Name, version and wheel hash of the installation."""
        return self._installed.identity

    @property
    def confined_to_fixture(self) -> bool:
        """It writes below the roots that it is given and in its own empty home, all of them in the workspace."""
        return True

    def invoke(self, args: Sequence[str], *, timeout_s: float, output_bytes: int) -> Completed:
        """Run ``loopx ARGS...``. Raises ControlPlaneError where that cannot start, or an argument is no text."""
        if not self._env:
            raise ControlPlaneError("the control plane is closed")
        if any(not _encodable(argument) for argument in args):
            raise ControlPlaneError("an argument of the command cannot be encoded as UTF-8")
        return self._executor.run(
            ProcessCommand(
                argv=(str(self._installed.python), "-m", MODULE, *args),
                cwd=str(self._cwd),
                env=self._env,
                timeout_s=timeout_s,
                output_bytes=output_bytes,
                # it starts a server for itself, and asks that
                loopback=self._installed.node is not None,
            )
        )

    def close(self) -> None:
        """Forget the environment; the executor stays open. Idempotent."""
        self._env = {}


def open_plane(
    installed: InstalledPlane, *, executor: Executor, cwd: Path, process_home: Path, search_path: str
) -> LoopxPlane:
    """Open loopx on a workspace: commands run in ``cwd``, with an empty ``process_home`` and ``search_path`` as PATH.

    Where the version needs Node.js its own comes first there.

    Temporary files go to ``process_home`` too, where what is left behind is seen; Git looks for a repository in ``cwd``
    and below only. Raises ProvisionError for an installation that loopx would call unhealthy.
    """
    ensure_layout(packages(installed.root), installed.identity.name, installed.identity.version)
    programs = search_path if installed.node is None else os.pathsep.join((str(installed.node), search_path))
    return LoopxPlane(installed, executor, cwd, _environment(cwd, process_home, programs))


def _environment(cwd: Path, process_home: Path, search_path: str) -> dict[str, str]:
    return {
        **_FIXED,
        # Git without the user's, the machine's or the workspace's programs, asking nobody.
        **git_environment(cwd),
        "PATH": search_path,
        "HOME": str(process_home),
        "TMPDIR": str(process_home),
    }


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
