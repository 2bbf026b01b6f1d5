"""Facts about the machine for ``harness doctor``: looked up, nothing is run and no value of a variable is told."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from platformdirs import user_data_path

__all__ = ["Fact", "inspect"]

Which = Callable[[str], str | None]

_OLDEST = (3, 11)


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was looked up.

    ``missing`` is needed and not there, ``optional`` is not there and can be done without; then ``hint`` says what to
    do or what is lost, otherwise it is empty.
    """

    name: str
    status: Literal["ok", "missing", "optional"]
    text: str
    hint: str = ""


def inspect(
    environ: Mapping[str, str],
    which: Which,
    *,
    key_variables: Sequence[str] = (),
    home: Path | None = None,
    platform: str = sys.platform,
    version: tuple[int, int, int] = sys.version_info[:3],
) -> tuple[Fact, ...]:
    """All facts, in the order they are shown.

    ``which`` finds a program as ``shutil.which`` does. ``key_variables`` hold API keys where they are set. ``home`` is
    HARNESS_HOME as resolved by the caller; without it the variable in ``environ`` counts, then the user's data folder.
    """
    if home is None:
        home = (
            Path(environ["HARNESS_HOME"]) if environ.get("HARNESS_HOME") else user_data_path("harness", appauthor=False)
        )
    return (
        _python(version),
        _platform(platform),
        _git(which),
        _ripgrep(which),
        _home(home),
        _keys(environ, key_variables),
    )


def _python(version: tuple[int, int, int]) -> Fact:
    text = ".".join(map(str, version))
    if version >= _OLDEST:
        return Fact("python", "ok", text)
    return Fact("python", "missing", text, "install Python 3.11 or newer")


def _platform(platform: str) -> Fact:
    if platform.startswith("linux"):
        return Fact("platform", "ok", "Linux: everything")
    if platform == "darwin":
        return Fact("platform", "optional", "macOS: cold control planes only", "no warm control plane and no sandbox")
    return Fact("platform", "missing", f"{platform}: not supported", "use Linux, or WSL on Windows")


def _git(which: Which) -> Fact:
    found = which("git")
    if found:
        return Fact("git", "ok", found)
    return Fact("git", "missing", "not found on PATH", "install git: the control plane asks it about its project")


def _ripgrep(which: Which) -> Fact:
    found = which("rg")
    if found:
        return Fact("rg", "ok", found)
    return Fact("rg", "optional", "not found on PATH", "without it a command `rg` of an actor fails as not found")


def _home(home: Path) -> Fact:
    place = next((path for path in (home, *home.parents) if os.path.exists(path)), None)  # noqa: PTH110  (never raises)
    if place is not None and place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return Fact("HARNESS_HOME", "ok", f"{home} ({'exists' if place == home else 'will be made'})")
    return Fact("HARNESS_HOME", "missing", f"{home} cannot be written", "set HARNESS_HOME to a folder of your own")


def _keys(environ: Mapping[str, str], variables: Sequence[str]) -> Fact:
    found = [name for name in variables if environ.get(name, "").strip()]
    if found:
        return Fact("keys", "ok", f"set: {', '.join(found)}")
    return Fact("keys", "optional", "none is set", "live actors need one; scripted and recorded ones do not")
