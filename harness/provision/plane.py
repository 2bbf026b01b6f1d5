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
    "loopx": {
        "0.4.8": "eb5fe51b9f3b6cf306e15011cd8ed617c84d94848f9b70ee7e8173bab6494f72",
        "0.5.4": "4099c3b33e9cfa4967a59b0f8c4d18b208e8bd9ab9d825d949e95c309a832309",
        "1.0.5": "d9206ce5348f78dadab979ddd06c7885f65144cfa1a711de09d4f11c2c3bbd80",
        "1.4.2": "fc57c57227283de968f6222e0294b4b87ddf61a5f4fe530f014d99c60b6906b3",
        "2.1.1": "8eecdfe048528c9d6bac790a2f76bcca24cc1555d9bab5925476628a79b924b0",
    },
}

#: The environment's directory; loopx's health scan skips paths with a part of this name.
VENV = ".venv"

_REF = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9_-]*)==(?P<version>[A-Za-z0-9]+(?:[.+!_-][A-Za-z0-9]+)*)")


@dataclass(frozen=True, slots=True)
class InstalledPlane:
    """An installation: ``python`` runs it, ``root`` is the directory of its own.

    ``node`` is the folder of programs of the Node.js that it needs; None where it needs none.
    """

    identity: PlaneIdentity
    python: Path
    root: Path
    node: Path | None = None

    @property
    def node_version(self) -> str | None:
        """The version of that Node.js."""
        return None if self.node is None else self.node.parent.name


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
