from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from harness import provision
from harness.errors import ProvisionError
from harness.provision import InstalledPlane
from harness.schema.process import PlaneIdentity


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


HERE = InstalledPlane(
    identity=PlaneIdentity(name="loopx", version="0.4.8", wheel_sha256="ab"),
    python=Path("/planes/loopx/0.4.8/.venv/bin/python"),
    root=Path("/planes/loopx/0.4.8"),
)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def one(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(provision, "installed", lambda place: (HERE,) if place == home else ())
    return home


def test_install_goes_to_the_home_and_takes_a_wheel(
    harness: Harness, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Path, Path | None, Path | None]] = []

    def install(ref: str, *, home: Path, wheel: Path | None = None, node: Path | None = None) -> InstalledPlane:
        asked.append((ref, home, wheel, node))
        return HERE

    monkeypatch.setattr(provision, "install", install)
    Path("a.whl").touch()

    assert harness("plane", "install", "loopx==0.4.8") == (
        0,
        "loopx==0.4.8 is installed in /planes/loopx/0.4.8\n",
        "",
    )
    assert harness("plane", "install", "loopx==0.4.8", "--from", "a.whl")[0] == 0
    assert harness("plane", "install", "loopx==0.4.8", "--node", "a.whl")[0] == 0
    assert asked == [
        ("loopx==0.4.8", home, None, None),
        ("loopx==0.4.8", home, Path("a.whl"), None),
        ("loopx==0.4.8", home, None, Path("a.whl")),
    ]


def test_install_of_nonsense_is_one_line(harness: Harness, home: Path) -> None:
    code, out, err = harness("plane", "install", "nonsense")

    assert (code, out, err.count("\n")) == (4, "", 1)
    assert not home.exists()


def test_install_that_fails_is_one_line(harness: Harness, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(ref: str, *, home: Path, wheel: Path | None = None, node: Path | None = None) -> InstalledPlane:
        del ref, home, wheel, node
        raise ProvisionError("no network, and no wheel is kept")

    monkeypatch.setattr(provision, "install", install)

    assert harness("plane", "install", "loopx==0.4.8") == (4, "", "harness: no network, and no wheel is kept\n")


def test_list_tells_what_is_installed_in_each_form(harness: Harness, one: Path) -> None:
    row = {"plane": "loopx==0.4.8", "wheel_sha256": "ab", "root": "/planes/loopx/0.4.8", "node": None}

    own = {"plane": "registry", "wheel_sha256": None, "root": None, "node": None}

    lines = harness("plane", "list")[1].splitlines()
    assert lines[:2] == ["plane         where", "loopx==0.4.8  /planes/loopx/0.4.8"]
    assert lines[2].startswith("registry      part of harness, version 1+")
    assert list(map(json.loads, harness("plane", "list", "--format", "jsonl")[1].splitlines())) == [row, own]
    assert json.loads(harness("plane", "list", "--format", "json")[1]) == {"planes": [row, own]}


def test_list_and_doctor_tell_the_node_of_a_version_that_needs_one(
    harness: Harness, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = replace(HERE, identity=HERE.identity.model_copy(update={"version": "2.1.1"}), node=Path("/node/24.1.0/bin"))
    monkeypatch.setattr(provision, "installed", lambda _: (HERE, newer))

    lines = harness("plane", "list")[1].splitlines()
    assert lines[0].split() == ["plane", "where", "node"]
    assert [line.split()[2:] for line in lines[1:3]] == [[], ["24.1.0"]]
    row = json.loads(harness("plane", "list", "--format", "jsonl")[1].splitlines()[1])
    assert (row["plane"], row["node"]) == ("loopx==2.1.1", "24.1.0")
    assert "/planes/loopx/0.4.8, with Node.js 24.1.0" in harness("doctor")[1]


def test_list_of_nothing_tells_the_line_to_type(harness: Harness, home: Path) -> None:
    code, out, err = harness("plane", "list")

    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith("registry  part of harness")
    assert out.splitlines()[2:] == ["no other is installed; type: harness plane install loopx==0.4.8"]


def test_what_is_part_of_harness_needs_no_installation(harness: Harness, home: Path) -> None:
    assert harness("plane", "install", "registry") == (
        0,
        "registry is part of harness: there is nothing to install\n",
        "",
    )
    code, out, err = harness("plane", "verify", "registry")
    assert (code, err) == (0, "")
    assert out.startswith("registry: part of harness, version 1+")
    assert not home.exists()


def test_verify_tells_damage_and_exits_1(harness: Harness, one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provision, "verify", lambda _: ("loopx/cli.py was changed",))

    assert harness("plane", "verify") == (1, "loopx==0.4.8: damaged\n  loopx/cli.py was changed\n", "")
    row = {"plane": "loopx==0.4.8", "problems": ["loopx/cli.py was changed"]}
    assert json.loads(harness("plane", "verify", "--format", "jsonl")[1]) == row
    assert json.loads(harness("plane", "verify", "--format", "json")[1]) == {"planes": [row]}


def test_verify_of_what_is_whole_exits_0(harness: Harness, one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provision, "verify", lambda _: ())

    assert harness("plane", "verify", "loopx==0.4.8") == (0, "loopx==0.4.8: fine\n", "")


def test_verify_of_what_is_not_there_is_refused(harness: Harness, one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = harness("plane", "verify", "loopx==9")
    assert (code, err) == (
        4,
        "harness: unknown installed control plane 'loopx==9'; there are: loopx==0.4.8, registry\n",
    )

    monkeypatch.setattr(provision, "installed", lambda _: ())
    assert harness("plane", "verify")[0] == 5


@pytest.fixture
def torn(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.undo()
    (home / "planes/loopx/0.4.8").mkdir(parents=True)
    monkeypatch.setenv("HARNESS_HOME", str(home))
    return home


def test_damaged_plane_is_told_by_list_verify_and_doctor(harness: Harness, torn: Path) -> None:
    assert harness("plane", "list")[::2] == (
        0,
        "harness: loopx==0.4.8 is damaged; type: harness plane install loopx==0.4.8\n",
    )
    code, out, _ = harness("plane", "verify")
    assert (code, out.splitlines()[0]) == (1, "loopx==0.4.8: damaged")
    assert harness("plane", "verify", "loopx==0.4.8")[:2] == (code, out)
    assert "installed.json is missing" in harness("doctor")[1]


@pytest.mark.parametrize("put", ["file", "circle", "nothing", "folder of files"])
def test_odd_home_is_never_a_crash(harness: Harness, home: Path, monkeypatch: pytest.MonkeyPatch, put: str) -> None:
    if put == "file":
        home.touch()
    elif put == "folder of files":
        (home / "planes/loopx").mkdir(parents=True)
        (home / "planes/loopx/0.4.8").symlink_to("0.4.8")
        (home / "planes/x").touch()
    else:
        home.symlink_to(home if put == "circle" else "nothing")
    codes = [harness(*command)[0] for command in (("doctor",), ("plane", "list"), ("plane", "verify"))]
    assert codes == [4, 0, 1 if put == "folder of files" else 5]
    code, _, err = harness("plane", "install", "loopx==0.4.8", "--from", __file__)
    assert (code, err.count("\n")) == (4, 1)


def test_an_install_that_fails_beside_a_broken_proxy_names_the_variable(
    harness: Harness, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ProvisionError("the package index was not reached")

    monkeypatch.setattr(provision, "install", fails)
    monkeypatch.setenv("https_proxy", "ftp://canary")

    code, out, err = harness("plane", "install", "loopx==0.4.8")

    assert (code, out, err.count("\n")) == (4, "", 1)
    assert err.startswith("harness: the package index was not reached; the environment variable https_proxy")
    assert "canary" not in err
