import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import pytest

from harness.errors import ProvisionError
from harness.provision import damage, damaged, find, install, installed, verify
from harness.provision import installation as module


class MakeWheel(Protocol):
    def __call__(
        self,
        version: str = ...,
        *,
        name: str = ...,
        filename: str | None = ...,
        files: dict[str, bytes] | None = ...,
        extra: dict[str, bytes] | None = ...,
        folder: str = ...,
    ) -> Path: ...


REF = "loopx==9.9.9"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "harness hömé"


def site(home: Path) -> Path:
    return next((home / "planes/loopx/9.9.9/.venv/lib").glob("python3*/site-packages"))


def test_plane_lies_alone_below_a_skipped_directory_and_runs(make_wheel: MakeWheel, home: Path) -> None:
    plane = install(REF, home=home, wheel=make_wheel())
    assert plane.root == home / "planes" / "loopx" / "9.9.9"
    assert plane.python == plane.root / ".venv" / "bin" / "python"
    assert sorted(path.name for path in site(home).iterdir()) == ["loopx", "loopx-9.9.9.dist-info"]
    done = subprocess.run([plane.python, "-m", "loopx.cli"], capture_output=True, check=True, cwd="/")
    assert done.stdout == b"it runs\n"
    assert (plane.identity.ref, verify(plane)) == (REF, ())
    assert find("loopx", "9.9.9", home) == plane
    assert installed(home) == (plane,)


def test_nothing_that_is_left_names_the_place_it_was_made_in(make_wheel: MakeWheel, home: Path) -> None:
    plane = install(REF, home=home, wheel=make_wheel())
    texts = [path for path in (plane.root / ".venv").rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in texts if b".part" in path.read_bytes()]
    assert sorted(path.name for path in plane.root.parent.iterdir()) == [".9.9.9.lock", "9.9.9"]
    assert all(path.name.startswith("python") for path in (plane.root / ".venv/bin").iterdir())
    prefix = subprocess.run([plane.python, "-c", "import sys; print(sys.prefix)"], capture_output=True, check=True)
    assert prefix.stdout.decode().strip() == str(plane.root / ".venv")


def test_bytecode_is_used_whatever_the_times_of_the_sources(make_wheel: MakeWheel, home: Path) -> None:
    plane = install(REF, home=home, wheel=make_wheel())
    source = site(home) / "loopx" / "__init__.py"
    os.utime(source, (1, 1))
    asked = [str(plane.python), "-v", "-c", "import loopx"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert f"code object from '{source.parent}/__pycache__" in done.stderr
    assert verify(plane) == ()


def test_second_install_changes_nothing_and_needs_no_wheel(make_wheel: MakeWheel, home: Path) -> None:
    wheel = make_wheel()
    first = install(REF, home=home, wheel=wheel)
    before = (first.root / "installed.json").stat().st_ino
    wheel.unlink()
    assert install(REF, home=home) == first
    assert (first.root / "installed.json").stat().st_ino == before


def test_kept_wheel_is_enough_to_install_again(make_wheel: MakeWheel, home: Path) -> None:
    plane = install(REF, home=home, wheel=make_wheel())
    shutil.rmtree(home / "planes")
    assert install(REF, home=home) == plane


@pytest.mark.parametrize(
    "change",
    [
        lambda root, _: (root / "installed.json").unlink(),
        lambda root, _: (root / "installed.json").write_text("{"),
        lambda root, _: (root / "installed.json").write_text('{"name": "loopx"}'),
        lambda root, _: (root / ".venv/bin/python").unlink(),
        lambda _, site: (site / "loopx/cli.py").write_text("print('other')\n"),
        lambda _, site: (site / "loopx/cli.py").unlink(),
        lambda _, site: next((site / "loopx/__pycache__").iterdir()).write_bytes(b""),
        lambda _, site: (site / "loopx/planted.py").write_text(""),
        lambda _, site: (site / "pip").mkdir(),
        lambda _, site: (site / "loopx-9.9.9.dist-info/RECORD").unlink(),
        lambda _, site: shutil.rmtree(site),
        lambda root, _: shutil.rmtree(root / ".venv"),
        lambda root, _: (root / ".venv/pyvenv.cfg").unlink(),
        lambda root, _: (root / ".venv/pyvenv.cfg").write_text(""),
        lambda root, _: (root / ".venv/pyvenv.cfg").write_bytes(b"\xff"),
        lambda root, _: (root / ".venv/pyvenv.cfg").write_text("home = /usr\ninclude-system-site-packages = true\n"),
        lambda _, site: (site / "loopx-9.9.9.dist-info/RECORD").write_bytes(b"\xff"),
    ],
)
def test_torn_or_changed_installation_is_found_and_repaired(
    make_wheel: MakeWheel, home: Path, change: Callable[[Path, Path], object]
) -> None:
    plane = install(REF, home=home, wheel=make_wheel())
    change(plane.root, site(home))
    problems = verify(plane)
    assert problems
    assert all("\n" not in problem for problem in problems)
    assert install(REF, home=home) == plane
    assert verify(plane) == ()
    assert (damage("loopx", "9.9.9", home), damaged(home)) == (None, {})


@pytest.mark.parametrize(
    ("remove", "said"),
    [
        (lambda root, _: (root / "installed.json").unlink(), "installed.json is missing, damaged or of another"),
        (lambda root, _: (root / ".venv/pyvenv.cfg").unlink(), "pyvenv.cfg cannot be read: No such file"),
        (lambda root, _: (root / ".venv/pyvenv.cfg").write_text(""), "pyvenv.cfg is damaged"),
        (lambda root, _: (root / ".venv/bin/python").unlink(), "python cannot be run"),
        (lambda _, site: (site / "loopx/cli.py").unlink(), "loopx/cli.py is missing"),
        (lambda _, site: (site / "loopx-9.9.9.dist-info/RECORD").unlink(), "RECORD cannot be read"),
        (lambda root, _: shutil.rmtree(root / ".venv/lib"), "is no installation of a control plane"),
    ],
)
def test_half_deleted_installation_is_not_found_and_told(
    make_wheel: MakeWheel, home: Path, remove: Callable[[Path, Path], object], said: str
) -> None:
    plane = install(REF, home=home, wheel=make_wheel())
    remove(plane.root, site(home))
    assert find("loopx", "9.9.9", home) is None
    assert installed(home) == ()
    assert said in (damage("loopx", "9.9.9", home) or "")
    assert said in damaged(home)[REF][0]


@pytest.mark.parametrize("put", ["file", "link to nothing", "link in a circle", "empty folder", "link to a folder"])
def test_what_stands_in_the_place_of_an_installation_is_told_and_replaced(
    make_wheel: MakeWheel, home: Path, tmp_path: Path, put: str
) -> None:
    root = home / "planes/loopx/9.9.9"
    root.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "precious").touch()
    if put == "file":
        root.write_text("")
    elif put == "empty folder":
        root.mkdir()
    else:
        targets: dict[str, str | Path] = {
            "link to nothing": "nothing",
            "link in a circle": "9.9.9",
            "link to a folder": tmp_path / "elsewhere",
        }
        root.symlink_to(targets[put])
    assert list(damaged(home)) == [REF]
    assert verify(install(REF, home=home, wheel=make_wheel())) == ()
    assert damaged(home) == {}
    assert (tmp_path / "elsewhere" / "precious").exists()


def test_home_full_of_other_things_has_no_plane_and_no_damage(tmp_path: Path) -> None:
    (tmp_path / "planes/loopx").mkdir(parents=True)
    for name in ("loopx/.9.9.9.lock", "loopx/not a version", "stray", "loopx/.9.9.9.12.part"):
        (tmp_path / "planes" / name).touch()
    (tmp_path / "planes/other/1.0").mkdir(parents=True)
    (tmp_path / "planes/circle").symlink_to("circle")
    assert (installed(tmp_path), damaged(tmp_path)) == ((), {})


@pytest.mark.parametrize("home", ["file", "circle", "none"])
def test_home_that_is_no_folder_has_no_plane_and_no_damage(tmp_path: Path, home: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "circle").symlink_to("circle")
    assert (installed(tmp_path / home), damaged(tmp_path / home)) == ((), {})
    assert (find("loopx", "1", tmp_path / home), damage("loopx", "1", tmp_path / home)) == (None, None)


@pytest.mark.parametrize("step", ["_correct_paths", "unpack", "_compile", "write_marker", "tree_digest"])
def test_crash_at_any_step_leaves_nothing_that_counts_and_is_repaired(
    make_wheel: MakeWheel, home: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    wheel = make_wheel()
    with monkeypatch.context() as patch:
        patch.setattr(module, step, crash)
        with pytest.raises(KeyboardInterrupt):
            install(REF, home=home, wheel=wheel)
    assert find("loopx", "9.9.9", home) is None
    assert installed(home) == ()
    plane = install(REF, home=home)
    assert verify(plane) == ()
    assert sorted(path.name for path in plane.root.parent.iterdir()) == [".9.9.9.lock", "9.9.9"]


def test_two_installers_at_once_make_one_installation(make_wheel: MakeWheel, home: Path) -> None:
    wheel = make_wheel()
    code = (
        "import sys; from pathlib import Path; from harness.provision import install\n"
        f"plane = install({REF!r}, home=Path({str(home)!r}), wheel=Path({str(wheel)!r}))\n"
        "print((plane.root / 'installed.json').stat().st_ino)"
    )

    def run(_: int) -> str:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout

    with ThreadPoolExecutor(3) as pool:
        answers = set(pool.map(run, range(3)))
    assert len(answers) == 1


@pytest.mark.parametrize(
    ("ref", "message"),
    [("loopx==0.4.8", r"is loopx==9.9.9, not loopx==0.4.8"), ("loopx==9.9", r"is loopx==9.9.9, not loopx==9.9$")],
)
def test_wheel_of_another_version_is_refused(make_wheel: MakeWheel, home: Path, ref: str, message: str) -> None:
    with pytest.raises(ProvisionError, match=message):
        install(ref, home=home, wheel=make_wheel())


def test_wheel_of_another_project_is_refused(make_wheel: MakeWheel, home: Path) -> None:
    with pytest.raises(ProvisionError, match=r"is other==9.9.9, not loopx==9.9.9"):
        install(REF, home=home, wheel=make_wheel(name="other"))


def test_known_version_with_another_hash_is_refused(make_wheel: MakeWheel, home: Path) -> None:
    with pytest.raises(ProvisionError, match=r"pinned to eb5fe51b9f3b\.\.\.; do not use this file"):
        install("loopx==0.4.8", home=home, wheel=make_wheel("0.4.8"))
    assert not list(home.glob("wheels/*.whl"))


def test_unknown_version_must_keep_the_hash_it_first_had(make_wheel: MakeWheel, home: Path) -> None:
    install(REF, home=home, wheel=make_wheel())
    shutil.rmtree(home / "planes")
    other = make_wheel(files={"loopx/more.py": b""}, folder="others")
    with pytest.raises(ProvisionError, match="is pinned to"):
        install(REF, home=home, wheel=other)


def test_other_wheel_of_an_installed_version_is_refused(make_wheel: MakeWheel, home: Path) -> None:
    wheel = make_wheel()
    install(REF, home=home, wheel=wheel)
    assert install(REF, home=home, wheel=wheel).root.is_dir()
    with pytest.raises(ProvisionError, match="already installed from another wheel; remove"):
        install(REF, home=home, wheel=make_wheel(files={"loopx/more.py": b""}, folder="others"))
    with pytest.raises(ProvisionError, match="there is no such file"):
        install(REF, home=home, wheel=home / "none.whl")


def test_wheel_under_another_file_name_is_kept_under_its_own(make_wheel: MakeWheel, home: Path) -> None:
    install(REF, home=home, wheel=make_wheel(filename="download"))
    assert [path.name for path in home.glob("wheels/*.whl")] == ["loopx-9.9.9-py3-none-any.whl"]


def test_home_that_cannot_be_written_is_one_clear_line(make_wheel: MakeWheel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ProvisionError, match=r"file.*; choose another HARNESS_HOME") as caught:
        install(REF, home=tmp_path / "file", wheel=make_wheel())
    assert "\n" not in str(caught.value)


def test_source_that_cannot_be_compiled_is_refused(make_wheel: MakeWheel, home: Path) -> None:
    with pytest.raises(ProvisionError, match="cannot be compiled by this Python"):
        install(REF, home=home, wheel=make_wheel(files={"loopx/new.py": b"def ("}))
    assert find("loopx", "9.9.9", home) is None


def test_relative_home_is_made_absolute(make_wheel: MakeWheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plane = install(REF, home=Path("here"), wheel=make_wheel())
    assert plane.root == tmp_path / "here" / "planes" / "loopx" / "9.9.9"


def test_what_a_killed_installer_left_is_removed_and_never_in_the_way(make_wheel: MakeWheel, home: Path) -> None:
    """Its compiler may outlive it for a while and still write there."""
    left = home / "planes" / "loopx" / ".9.9.9.4711.part" / ".venv"
    left.mkdir(parents=True)
    (left / "half.pyc").write_bytes(b"half")
    plane = install(REF, home=home, wheel=make_wheel())
    assert verify(plane) == ()
    assert sorted(path.name for path in plane.root.parent.iterdir()) == [".9.9.9.lock", "9.9.9"]


def test_interrupted_install_leaves_no_half_behind(
    home: Path, make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(part: Path, *_: object, **__: object) -> None:
        (part / "half").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_finish", stopped)
    with pytest.raises(KeyboardInterrupt):
        install(REF, home=home, wheel=make_wheel())
    assert [path for path in home.rglob("*") if "half" in path.name or path.name.endswith(".part")] == []
