import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from harness.errors import ProvisionError
from harness.provision import fetching, install, verify


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


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a small program in the place of pip."""

    def replace(source: str) -> None:
        monkeypatch.setattr(fetching, "_PIP", ("-c", "import sys, pathlib, shutil\n" + source))

    return replace


def test_index_delivers_a_wheel_that_is_kept(pip: Callable[[str], None], make_wheel: MakeWheel, tmp_path: Path) -> None:
    pip(f"shutil.copy({str(make_wheel())!r}, sys.argv[sys.argv.index('--dest') + 1])")
    plane = install("loopx==9.9.9", home=tmp_path / "home")
    assert verify(plane) == ()
    assert sorted(path.name for path in (tmp_path / "home/wheels").iterdir()) == [
        "loopx-9.9.9-py3-none-any.whl",
        "loopx-9.9.9.sha256",
    ]


def test_damaged_kept_wheel_is_fetched_anew(pip: Callable[[str], None], make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel()
    install("loopx==9.9.9", home=tmp_path / "home", wheel=wheel)
    shutil.rmtree(tmp_path / "home/planes")
    (tmp_path / "home/wheels/loopx-9.9.9-py3-none-any.whl").write_bytes(b"torn")
    pip(f"shutil.copy({str(wheel)!r}, sys.argv[sys.argv.index('--dest') + 1])")
    assert verify(install("loopx==9.9.9", home=tmp_path / "home")) == ()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sys.exit('No module named pip')", "this Python has no pip .* --from WHEEL"),
        (
            "sys.exit('ERROR: Could not find (from versions: 0.4.8, 1.0)\\nERROR: No matching distribution found')",
            r"has no wheel of loopx==0\.4\.8 for this Python; check the version",
        ),
        (
            "sys.exit('https://user:secret@index (from versions: none)\\nERROR: No matching distribution found')",
            r"loopx==0\.4\.8 could not be downloaded: .* connect once, or give a file with --from WHEEL",
        ),
        ("pass", r"pip did not deliver one wheel for loopx==0\.4\.8"),
    ],
)
def test_failure_of_the_download_is_one_clear_line_of_ours(
    pip: Callable[[str], None], tmp_path: Path, source: str, message: str
) -> None:
    pip(source)
    with pytest.raises(ProvisionError, match=message) as caught:
        install("loopx==0.4.8", home=tmp_path)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_download_that_never_ends_is_given_up(
    pip: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_LIMIT_S", 0.2)
    pip("import threading; threading.Event().wait()")
    with pytest.raises(ProvisionError, match="pip could not be run"):
        install("loopx==0.4.8", home=tmp_path)


def cut_off() -> bool:
    """Whether a process can be started without any network here."""
    program = shutil.which("unshare")
    return (
        program is not None
        and subprocess.run([program, "-rn", "true"], check=False, capture_output=True).returncode == 0
    )


@pytest.mark.slow
@pytest.mark.plane
@pytest.mark.skipif(not cut_off(), reason="this machine cannot start a process without network (unshare -rn)")
def test_without_network_a_kept_wheel_is_enough_and_nothing_kept_is_one_line(plane_home: Path, tmp_path: Path) -> None:
    shutil.copytree(plane_home / "wheels", tmp_path / "kept" / "wheels")
    code = (
        "import sys; from pathlib import Path\nfrom harness.errors import HarnessError\n"
        "from harness.provision import install, verify\n"
        "try: print(verify(install('loopx==0.4.8', home=Path(sys.argv[1]))))\n"
        "except HarnessError as error: print(error)\n"
    )

    def offline(home: Path) -> str:
        argv = ["unshare", "-rn", sys.executable, "-c", code, str(home)]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout

    assert offline(tmp_path / "kept") == "()\n"
    assert "could not be downloaded" in offline(tmp_path / "empty")


def test_failed_first_install_leaves_no_home_behind(pip: Callable[[str], None], tmp_path: Path) -> None:
    pip("sys.exit('no network')")
    with pytest.raises(ProvisionError, match="could not be downloaded"):
        install("loopx==9.9.9", home=tmp_path / "new" / "home")
    assert list(tmp_path.iterdir()) == []


def test_failed_install_leaves_what_was_there(
    pip: Callable[[str], None], make_wheel: MakeWheel, tmp_path: Path
) -> None:
    plane = install("loopx==9.9.9", home=tmp_path / "home", wheel=make_wheel())
    before = sorted(tmp_path.rglob("*"))
    pip("sys.exit('no network')")
    with pytest.raises(ProvisionError, match="could not be downloaded"):
        install("loopx==9.9.8", home=tmp_path / "home")
    assert sorted(tmp_path.rglob("*")) == before
    assert verify(plane) == ()


def damaged(wheel: Path, way: str) -> Path:
    """Another wheel of that name: the same with a part of it spoiled."""
    data = wheel.read_bytes()
    place = data.index(b"it runs")
    spoiled = {
        "changed": data.replace(b"it runs", b"it lies"),
        "cut": data[: len(data) // 2],
        "torn": data[:place] + data[place + 4 :],
        "no wheel": b"PK\x05\x06" + bytes(18),
    }
    wheel.write_bytes(spoiled[way])
    return wheel


WAYS = ("changed", "cut", "torn", "no wheel")


@pytest.mark.parametrize("way", WAYS)
def test_damaged_wheel_is_refused_and_leaves_the_next_whole_one_welcome(
    make_wheel: MakeWheel, tmp_path: Path, way: str
) -> None:
    bad = damaged(make_wheel(folder="bad"), way)
    with pytest.raises(ProvisionError, match=r"damaged|is not a wheel") as caught:
        install("loopx==9.9.9", home=tmp_path / "home", wheel=bad)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "home").exists()
    assert verify(install("loopx==9.9.9", home=tmp_path / "home", wheel=make_wheel())) == ()


@pytest.mark.parametrize("way", WAYS)
def test_damaged_wheel_from_the_index_is_not_kept(
    pip: Callable[[str], None], make_wheel: MakeWheel, tmp_path: Path, way: str
) -> None:
    bad = damaged(make_wheel(folder="bad"), way)
    pip(f"shutil.copy({str(bad)!r}, sys.argv[sys.argv.index('--dest') + 1])")
    with pytest.raises(ProvisionError, match=r"damaged|is not a wheel"):
        install("loopx==9.9.9", home=tmp_path / "home")
    pip(f"shutil.copy({str(make_wheel())!r}, sys.argv[sys.argv.index('--dest') + 1])")
    assert verify(install("loopx==9.9.9", home=tmp_path / "home")) == ()


@pytest.mark.parametrize("way", WAYS)
def test_damaged_wheel_that_was_kept_and_never_pinned_is_fetched_anew(
    pip: Callable[[str], None], make_wheel: MakeWheel, tmp_path: Path, way: str
) -> None:
    kept = tmp_path / "home" / "wheels"
    kept.mkdir(parents=True)
    shutil.copy(damaged(make_wheel(folder="bad"), way), kept)
    pip(f"shutil.copy({str(make_wheel())!r}, sys.argv[sys.argv.index('--dest') + 1])")
    assert verify(install("loopx==9.9.9", home=tmp_path / "home")) == ()


def test_wheel_that_cannot_be_installed_is_never_pinned(make_wheel: MakeWheel, tmp_path: Path) -> None:
    bad = make_wheel(files={"loopx/new.py": b"def ("}, folder="bad")
    with pytest.raises(ProvisionError, match="cannot be compiled"):
        install("loopx==9.9.9", home=tmp_path / "home", wheel=bad)
    assert not (tmp_path / "home").exists()
    assert verify(install("loopx==9.9.9", home=tmp_path / "home", wheel=make_wheel())) == ()
