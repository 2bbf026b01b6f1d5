"""What is installed, and whether it is still what was installed."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from harness.errors import ProvisionError
from harness.provision.plane import VENV, InstalledPlane, plane_root
from harness.provision.wheel import record_hash, recorded
from harness.schema.base import Frozen
from harness.schema.process import PlaneIdentity

__all__ = [
    "MARKER",
    "SKIPPED_PARTS",
    "Marker",
    "ensure_layout",
    "find",
    "installed",
    "packages",
    "read_marker",
    "tree_digest",
    "verify",
    "write_marker",
]

#: Written last; without it there is no installation.
MARKER = "installed.json"

#: Path parts below which loopx's own health scan looks at nothing (measured on 0.4.8).
SKIPPED_PARTS = frozenset(
    (
        ".git",
        ".goal-harness",
        ".loopx",
        ".goal-wrapper.local",
        ".local",
        ".venv",
        "__pycache__",
        ".pytest_cache",
        ".ruff_cache",
        "build",
        "dist",
        "node_modules",
        "runtime",
    )
)


class Marker(Frozen):
    """What an installation was when it was made. ``tree`` covers every file beside and below the package."""

    schema_version: int = 1
    name: str
    version: str
    wheel_sha256: str
    python: str
    tree: str


def find(name: str, version: str, home: Path) -> InstalledPlane | None:
    """The finished installation of that version, or None; a quick look, see ``verify``."""
    root = plane_root(home, name, version)
    marker = read_marker(root)
    python = root / VENV / "bin" / "python"
    if marker is None or (marker.name, marker.version) != (name, version) or not os.access(python, os.X_OK):
        return None
    return InstalledPlane(PlaneIdentity(name=name, version=version, wheel_sha256=marker.wheel_sha256), python, root)


def installed(home: Path) -> tuple[InstalledPlane, ...]:
    """All finished installations, by name and version."""
    places = sorted(path.parent for path in home.glob(f"planes/*/*/{MARKER}"))
    found = (find(place.parent.name, place.name, home) for place in places)
    return tuple(plane for plane in found if plane is not None)


def read_marker(root: Path) -> Marker | None:
    """The marker of an installation; None where there is none that can be read."""
    try:
        return Marker.model_validate_json((root / MARKER).read_bytes())
    except (OSError, ValidationError):
        return None


def packages(root: Path) -> Path:
    """The directory that holds the plane's package. Raises ProvisionError where there is not exactly one."""
    places = sorted((root / VENV / "lib").glob("python3*/site-packages"))
    if len(places) != 1:
        raise ProvisionError(f"{root} is no installation of a control plane; remove it and install again")
    return places[0]


def tree_digest(folder: Path) -> str:
    """SHA-256 over the relative path and content of every file below a folder, in order."""
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()):
        content = sha256(os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes())
        digest.update(os.fsencode(path.relative_to(folder)) + b"\0" + content.digest())
    return digest.hexdigest()


def ensure_layout(site: Path, name: str, version: str) -> None:
    """Refuse a directory of packages in which the plane would report bad health or be slow.

    loopx looks for leaked secrets in every file beside its own package: what lies there must be its own, and the path
    must have a part that the scan skips. Raises ProvisionError.
    """
    if not SKIPPED_PARTS & set(site.resolve().parts):
        raise ProvisionError(
            f"{name} must lie below a directory named {VENV}, or its health check scans itself on each call; "
            f"{site} has no such part: use harness plane install {name}=={version}"
        )
    expected = {name, f"{name}-{version}.dist-info"}
    foreign = sorted(path.name for path in site.iterdir() if path.name not in expected)
    if foreign:
        raise ProvisionError(
            f"{name} must lie alone, but {site} also holds {foreign[0]!r}, which its health check would judge: "
            f"use harness plane install {name}=={version}"
        )


def verify(plane: InstalledPlane) -> tuple[str, ...]:
    """What is wrong with an installation, a line each; empty where it is exactly what was installed."""
    marker = read_marker(plane.root)
    if marker is None or marker.wheel_sha256 != plane.identity.wheel_sha256:
        return (f"{MARKER} is missing, damaged or of another installation",)
    if not os.access(plane.python, os.X_OK):
        return (f"its interpreter {plane.python} cannot be run",)
    try:
        site = packages(plane.root)
        ensure_layout(site, marker.name, marker.version)
        problems = _against_record(site, site / f"{marker.name}-{marker.version}.dist-info" / "RECORD")
        if not problems and tree_digest(site) != marker.tree:
            problems.append("files beside those of the wheel (bytecode, or extra files) were changed")
    except ProvisionError as error:
        return (str(error),)
    except OSError as error:
        return (f"{error.filename} cannot be read: {error.strerror}",)
    return tuple(problems)


def _against_record(site: Path, record: Path) -> list[str]:
    problems = []
    for name, expected in recorded(record.read_text("utf-8")).items():
        try:
            data = (site / name).read_bytes()
        except OSError:
            problems.append(f"{name} is missing")
            continue
        if record_hash(data) != expected:
            problems.append(f"{name} was changed")
    return problems


def write_marker(root: Path, marker: Marker) -> None:
    """Write the marker so that it is there whole or not at all, also after a power loss."""
    part = root / f".{MARKER}.part"
    with part.open("w", encoding="utf-8") as file:
        json.dump(marker.model_dump(), file, sort_keys=True, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(root / MARKER)
