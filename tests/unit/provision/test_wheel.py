import io
import tempfile
import zipfile
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ProvisionError
from harness.provision.wheel import check, file_sha256, read_wheel, unpack


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


def test_wheel_says_what_it_is(make_wheel: MakeWheel) -> None:
    path = make_wheel("1.2.3")
    facts = read_wheel(path)
    assert (facts.name, facts.version, facts.dist_info) == ("loopx", "1.2.3", "loopx-1.2.3.dist-info")
    assert facts.sha256 == file_sha256(path)


def test_file_that_is_no_wheel_is_refused(tmp_path: Path, make_wheel: MakeWheel) -> None:
    (tmp_path / "text.whl").write_text("not a zip")
    with pytest.raises(ProvisionError, match=r"text.whl is not a wheel; give the .whl file"):
        read_wheel(tmp_path / "text.whl")
    with pytest.raises(ProvisionError, match="must hold one"):
        read_wheel(make_wheel(extra={"other-1.dist-info/METADATA": b""}))
    with pytest.raises(ProvisionError, match=r"cannot read the wheel .*: No such file"):
        read_wheel(tmp_path / "none.whl")


def test_files_are_laid_out_as_they_are(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel(files={"loopx/deep/data.json": b"{}"}, extra={"loopx/deep/": b""})
    unpack(wheel, tmp_path / "site")
    assert (tmp_path / "site/loopx/deep/data.json").read_bytes() == b"{}"
    assert (tmp_path / "site/loopx-9.9.9.dist-info/RECORD").is_file()


def test_data_to_share_lies_in_the_environment_and_not_beside_the_package(
    make_wheel: MakeWheel, tmp_path: Path
) -> None:
    unpack(make_wheel(files={"loopx-9.9.9.data/data/share/loopx/a.md": b"x"}), tmp_path / "env/site", tmp_path / "env")
    assert (tmp_path / "env/share/loopx/a.md").read_bytes() == b"x"
    assert sorted(path.name for path in (tmp_path / "env/site").iterdir()) == ["loopx", "loopx-9.9.9.dist-info"]


@pytest.mark.parametrize(
    "name",
    [
        *("../outside.py", "/outside.py", "loopx/../../x", "loopx-9.9.9.data/scripts/run"),
        *(
            "loopx-9.9.9.data/data/bin/python",
            "loopx-9.9.9.data/data/share",
            "loopx-9.9.9.data/data/share/../bin/python",
        ),
    ],
)
def test_member_that_would_land_elsewhere_is_refused(make_wheel: MakeWheel, tmp_path: Path, name: str) -> None:
    with pytest.raises(ProvisionError, match="cannot be laid out as plain files"):
        unpack(make_wheel(files={name: b"x"}), tmp_path / "site")
    assert not list(tmp_path.rglob("outside.py"))


def test_member_that_is_not_in_the_record_is_refused(make_wheel: MakeWheel, tmp_path: Path) -> None:
    with pytest.raises(ProvisionError, match=r"damaged: 'loopx/planted.py' does not match"):
        unpack(make_wheel(extra={"loopx/planted.py": b"x"}), tmp_path / "site")


def test_wheel_that_lacks_a_file_of_its_record_is_refused(make_wheel: MakeWheel, tmp_path: Path) -> None:
    wheel = make_wheel(files={"loopx/more.py": b"x"})
    with zipfile.ZipFile(wheel) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "loopx/more.py"}
    with zipfile.ZipFile(tmp_path / "less.whl", "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(ProvisionError, match=r"less.whl is damaged: it lacks 'loopx/more.py'"):
        check(tmp_path / "less.whl")


@settings(max_examples=150)
@given(place=st.integers(0, 10**4), byte=st.integers(0, 255), cut=st.booleans())
def test_wheel_with_any_byte_wrong_is_fine_or_refused_in_one_line(place: int, byte: int, cut: bool) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x-1.dist-info/METADATA", "Name: x\nVersion: 1\n" * 9)
        archive.writestr("x-1.dist-info/RECORD", "x-1.dist-info/RECORD,,\n")
    spoiled = bytearray(data.getvalue())
    at = place % len(spoiled)
    spoiled[at:] = spoiled[at + 1 :] if cut else bytes([byte]) + spoiled[at + 1 :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x-1-py3-none-any.whl"
        path.write_bytes(spoiled)
        try:
            told = read_wheel(path).name
            check(path)
        except ProvisionError as error:
            told = str(error)
    assert "\n" not in told


def damaged(path: Path, how: str) -> Path:
    """A wheel with one thing wrong in it."""
    if how == "deflated content":
        with zipfile.ZipFile(path) as whole:
            members = {name: whole.read(name) for name in whole.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo("loopx/cli.py")
    entry = data.index(b"loopx/cli.py", data.index(b"PK\x01\x02")) - 46
    match how:
        case "encrypted":
            data[entry + 8] |= 1
            data[member.header_offset + 6] |= 1
        case "odd compression":
            data[entry + 10] = data[member.header_offset + 8] = 77
        case "content" | "deflated content":
            data[member.header_offset + 30 + len(member.filename)] ^= 0xFF
        case _:
            del data[len(data) // 2 :]
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("how", ["encrypted", "odd compression", "content", "deflated content", "end"])
def test_a_broken_archive_is_one_line(tmp_path: Path, make_wheel: MakeWheel, how: str) -> None:
    path = damaged(make_wheel(), how)
    with pytest.raises(ProvisionError, match=r"is not a wheel|is damaged: it cannot be unpacked"):
        unpack(path, tmp_path / "out")


def test_members_that_cannot_lie_side_by_side_are_refused(tmp_path: Path, make_wheel: MakeWheel) -> None:
    path = make_wheel(files={"loopx/__init__.py/x": b""})
    with pytest.raises(ProvisionError, match="is damaged: it cannot be unpacked"):
        unpack(path, tmp_path / "out")


@pytest.mark.parametrize("content", [None, b"\xff"], ids=["missing", "no text"])
def test_a_record_that_cannot_be_read_is_refused(tmp_path: Path, make_wheel: MakeWheel, content: bytes | None) -> None:
    path = tmp_path / "odd.whl"
    with zipfile.ZipFile(make_wheel()) as whole, zipfile.ZipFile(path, "w") as archive:
        for name in whole.namelist():
            data = content if name.endswith("RECORD") else whole.read(name)
            if data is not None:
                archive.writestr(name, data)
    with pytest.raises(ProvisionError, match=r"it must hold loopx-9\.9\.9\.dist-info/RECORD|cannot be unpacked"):
        unpack(path, tmp_path / "out")


def test_an_archive_that_promises_too_much_is_refused_before_it_is_unpacked(
    make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_wheel(files={"loopx/big": b"\0" * 2_000})
    monkeypatch.setattr("harness.provision.wheel.UNPACKED_MAX", 2_000)
    with pytest.raises(ProvisionError, match="is too large; allowed: 20000 files of 2000 bytes together"):
        read_wheel(path)


def test_a_device_is_no_wheel() -> None:
    with pytest.raises(ProvisionError, match="it is no regular file"):
        read_wheel(Path("/dev/zero"))
