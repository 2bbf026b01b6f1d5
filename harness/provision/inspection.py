"""What is installed, and whether it is still what was installed."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from harness.errors import ProvisionError
from harness.provision.node import lacking_node, node_folder, verify_node
from harness.provision.plane import VENV, InstalledPlane, parse_ref, plane_root
from harness.provision.wheel import place_of, record_hash, recorded
from harness.schema.base import Frozen
from harness.schema.process import PlaneIdentity

__all__ = [
    "MARKER",
    "SKIPPED_PARTS",
    "Marker",
    "damage",
    "damaged",
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
_UNMARKED = f"{MARKER} is missing, damaged or of another installation"

#: What makes ``pyvenv.cfg`` one: without it the interpreter sees the machine's packages and not the plane's.
_CONFIGURED = re.compile(r"^home = \S.*$(?s:.*)^include-system-site-packages = false$", re.MULTILINE)

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
    """What an installation was when it was made. ``tree`` covers every file beside and below the package.

    ``node`` is the version of the Node.js that it needs; empty where it needs none.
    """

    schema_version: int = 1
    name: str
    version: str
    wheel_sha256: str
    python: str
    tree: str
    node: str = ""


def find(name: str, version: str, home: Path) -> InstalledPlane | None:
    """The finished installation of that version with all its files, or None; no content is read, see ``verify``."""
    plane = _marked(name, version, home)
    return None if plane is None or _gap(plane) is not None else plane


def damage(name: str, version: str, home: Path) -> str | None:
    """What an installation that ``find`` does not find lacks, in one line; None where there is none at all."""
    plane = _marked(name, version, home)
    if plane is not None:
        return _gap(plane)
    return _UNMARKED if os.path.lexists(plane_root(home, name, version)) else None


def installed(home: Path) -> tuple[InstalledPlane, ...]:
    """All finished installations with all their files, by name and version."""
    found = (find(name, version, home) for name, version in _places(home))
    return tuple(plane for plane in found if plane is not None)


def damaged(home: Path) -> dict[str, tuple[str, ...]]:
    """What stands in the place of an installation and is none, by reference: what is wrong with it, a line each."""
    found: dict[str, tuple[str, ...]] = {}
    for name, version in _places(home):
        lacking = damage(name, version, home)
        if lacking is not None:
            plane = _marked(name, version, home)
            found[f"{name}=={version}"] = (plane and verify(plane)) or (lacking,)
    return found


def _places(home: Path) -> list[tuple[str, str]]:
    """Names and versions for which something stands where an installation would."""
    found = []
    for path in (inner for outer in _inside(home / "planes") for inner in _inside(outer)):
        try:
            name, version = parse_ref(f"{path.parent.name}=={path.name}")
        except ProvisionError:
            continue
        if (name, version) == (path.parent.name, path.name):
            found.append((name, version))
    return found


def _inside(folder: Path) -> list[Path]:
    """What lies in a folder, in order; nothing where it is none, or may not be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _marked(name: str, version: str, home: Path) -> InstalledPlane | None:
    root = plane_root(home, name, version)
    marker = read_marker(root)
    if marker is None or (marker.name, marker.version) != (name, version):
        return None
    identity = PlaneIdentity(name=name, version=version, wheel_sha256=marker.wheel_sha256)
    node = node_folder(home, marker.node) if marker.node else None
    return InstalledPlane(identity, root / VENV / "bin" / "python", root, node)


def _gap(plane: InstalledPlane) -> str | None:
    """The first part that is not there, by a look at names alone: some 800 of them, a few milliseconds."""
    if not os.access(plane.python, os.X_OK):
        return f"its interpreter {plane.python} cannot be run"
    try:
        if not _CONFIGURED.search((plane.root / VENV / "pyvenv.cfg").read_text("utf-8")):
            return "pyvenv.cfg is damaged"
        site = packages(plane.root)
        ensure_layout(site, plane.identity.name, plane.identity.version)
        for name in recorded(_record(site, plane).read_text("utf-8")):
            if not place_of(name, site, plane.root / VENV).is_file():
                return f"{name} is missing"
    except ProvisionError as error:
        return str(error)
    except (OSError, ValueError) as error:
        return _unreadable(error)
    return None if plane.node is None else lacking_node(*_home_and_node(plane.node))


def _home_and_node(programs: Path) -> tuple[Path, str]:
    """The inverse of ``node_folder``."""
    return programs.parents[2], programs.parent.name


def _record(site: Path, plane: InstalledPlane) -> Path:
    return site / f"{plane.identity.name}-{plane.identity.version}.dist-info" / "RECORD"


def _unreadable(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return f"{error.filename} cannot be read: {error.strerror}"
    return "a file of its own is no text in UTF-8"


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
        return (_UNMARKED,)
    lacking = _gap(plane)
    try:
        site = packages(plane.root)
        problems = _against_record(site, plane.root / VENV, _record(site, plane))
        if not problems and lacking is None and tree_digest(site) != marker.tree:
            problems.append("files beside those of the wheel (bytecode, or extra files) were changed")
        changed = None if plane.node is None else verify_node(*_home_and_node(plane.node))
        problems += [] if changed is None else [changed]
    except ProvisionError as error:
        problems = [str(error)]
    except (OSError, ValueError) as error:
        problems = [_unreadable(error)]
    return tuple(dict.fromkeys((*((lacking,) if lacking else ()), *problems)))


def _against_record(site: Path, prefix: Path, record: Path) -> list[str]:
    problems = []
    for name, expected in recorded(record.read_text("utf-8")).items():
        try:
            data = place_of(name, site, prefix).read_bytes()
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
