"""Which control planes there are to install, and where one lies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ProvisionError
from harness.schema.process import PlaneIdentity

__all__ = ["KNOWN", "VENV", "InstalledPlane", "parse_ref", "plane_root"]

#: Name -> version -> SHA-256 of its wheel in lower-case hexadecimal digits. A version that is not here may be
#: installed too: its hash is then recorded beside the wheel once it is installed, and required from then on.
KNOWN: dict[str, dict[str, str]] = {
    "loopx": {"0.4.8": "eb5fe51b9f3b6cf306e15011cd8ed617c84d94848f9b70ee7e8173bab6494f72"},
}

#: The environment's directory; loopx's health scan skips paths with a part of this name.
VENV = ".venv"

_REF = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9_-]*)==(?P<version>[A-Za-z0-9]+(?:[.+!_-][A-Za-z0-9]+)*)")


@dataclass(frozen=True, slots=True)
class InstalledPlane:
    """An installation: ``python`` runs it, ``root`` is the directory of its own."""

    identity: PlaneIdentity
    python: Path
    root: Path


def parse_ref(ref: str) -> tuple[str, str]:
    """``"loopx==0.4.8"`` as name and version. Raises ProvisionError for another form or an unknown name."""
    match = _REF.fullmatch(ref.strip())
    if match is None:
        raise ProvisionError(f"{ref!r} does not name a control plane; write NAME==VERSION, for example loopx==0.4.8")
    name = match["name"].lower()
    if name not in KNOWN:
        raise ProvisionError(f"unknown control plane {name!r}; there are: {', '.join(sorted(KNOWN))}")
    return name, match["version"]


def plane_root(home: Path, name: str, version: str) -> Path:
    """The directory of one installation."""
    return home / "planes" / name / version
