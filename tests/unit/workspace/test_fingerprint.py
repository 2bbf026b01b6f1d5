from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.schema.base import digest_bytes
from harness.schema.evidence import StateDigest
from harness.workspace import Fingerprinter, diff, take, ticks
from harness.workspace import fingerprint as module
from harness.workspace.ticks import Ticks


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    (made / "project" / "inner").mkdir(parents=True)
    (made / "project" / "file").write_text("text")
    (made / "project" / "inner" / "file").write_text("deep")
    made.chmod(0o700)
    return made


def types(state: StateDigest) -> dict[str, str]:
    return {entry.path: entry.type for entry in state.entries}


def changes(before: StateDigest, after: StateDigest) -> list[tuple[str, str]]:
    return [(change.path, change.change) for change in diff(before, after)]


def test_every_path_is_listed_once_and_sorted(root: Path) -> None:
    state = take(root)
    assert [entry.path for entry in state.entries] == [
        "project",
        "project/file",
        "project/inner",
        "project/inner/file",
    ]
    assert state.entries[1].digest == digest_bytes(b"text")
    assert state.entries[0].digest is None


def test_the_same_content_elsewhere_has_the_same_digest(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "project" / "inner").mkdir(parents=True)
    (other / "project" / "inner" / "file").write_text("deep")
    (other / "project" / "file").write_text("text")
    assert take(other) == take(root)


def test_nothing_changed_is_no_difference(root: Path) -> None:
    assert diff(take(root), take(root)) == ()


def test_each_kind_of_change_is_told(root: Path) -> None:
    before = take(root)
    (root / "project" / "file").unlink()
    (root / "project" / "inner" / "file").write_text("DEEP")
    (root / "added").mkdir()
    (root / "added" / "file").touch()
    assert changes(before, take(root)) == [
        ("added", "added"),
        ("added/file", "added"),
        ("project/file", "removed"),
        ("project/inner/file", "modified"),
    ]


def test_a_mode_and_a_type_are_changes_too(root: Path) -> None:
    before = take(root)
    (root / "project" / "file").chmod(0o600)
    (root / "project" / "inner" / "file").unlink()
    (root / "project" / "inner" / "file").mkdir()
    assert changes(before, take(root)) == [("project/file", "modified"), ("project/inner/file", "modified")]


def test_links_are_known_by_target_and_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "link").symlink_to(outside)
    before = take(root)
    (outside / "file").write_text("secret")
    assert take(root) == before
    assert types(before)["link"] == "link"
    (root / "link").unlink()
    (root / "link").symlink_to(tmp_path)
    assert changes(before, take(root)) == [("link", "modified")]


def test_special_files_are_facts_and_never_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert types(take(root))["pipe"] == "other"


def test_unreadable_parts_are_facts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really_open, really_scan = os.open, os.listdir

    def closed(path: bytes, flags: int) -> int:
        if path.endswith(b"project/file"):
            raise PermissionError(path)
        return really_open(path, flags)

    def unlistable(path: bytes) -> object:
        if path.endswith(b"inner"):
            raise PermissionError(path)
        return really_scan(path)

    monkeypatch.setattr(os, "open", closed)
    monkeypatch.setattr(os, "listdir", unlistable)
    assert types(take(root)) == {"project": "directory", "project/file": "other", "project/inner": "other"}


def test_a_root_that_cannot_be_listed_or_is_not_there_is_empty(tmp_path: Path) -> None:
    assert take(tmp_path / "missing").entries == ()


def test_what_vanishes_during_the_look_is_left_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really_open = os.open

    def gone(path: bytes, flags: int) -> int:
        if path.endswith(b"project/file"):
            raise FileNotFoundError(path)
        return really_open(path, flags)

    monkeypatch.setattr(os, "open", gone)
    assert "project/file" not in types(take(root))


def test_what_cannot_be_asked_about_is_a_fact(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: bytes) -> bytes:
        raise PermissionError(path)

    (root / "link").symlink_to("target")
    monkeypatch.setattr(os, "readlink", refused)
    assert types(take(root))["link"] == "other"


def test_a_file_that_became_something_else_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(root / "pipe")
    really_open = os.open

    def swapped(path: bytes, flags: int) -> int:
        return really_open(root / "pipe" if path.endswith(b"project/file") else path, flags)

    monkeypatch.setattr(os, "open", swapped)
    assert types(take(root))["project/file"] == "other"


def test_a_file_that_became_a_link_is_not_followed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outside").write_text("secret")
    really_open = os.open

    def swapped(path: bytes, flags: int) -> int:
        if path.endswith(b"project/file"):
            (root / "project" / "file").unlink()
            (root / "project" / "file").symlink_to(tmp_path / "outside")
        return really_open(path, flags)

    monkeypatch.setattr(os, "open", swapped)
    assert types(take(root))["project/file"] == "other"


def test_odd_names_are_told_apart(root: Path) -> None:
    for name in (b"\xff", b"\\xff", b"new\nline", "é".encode()):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).touch()
    assert {"\\xff", "\\\\xff", "new\nline", "é"} <= types(take(root)).keys()


def test_excluded_paths_are_left_out_with_all_below(root: Path) -> None:
    assert list(types(take(root, exclude=("project/inner", "nothing")))) == ["project", "project/file"]


def test_hidden_texts_make_digests_independent_of_the_place(root: Path) -> None:
    (root / "file").write_bytes(b"\xff " + os.fsencode(root))
    (root / "link").symlink_to(root / "project")
    state = take(root, hide=lambda text: text.replace(str(root), "{root}"))
    digests = {entry.path: entry.digest for entry in state.entries}
    assert digests["file"] == digest_bytes(b"\xff {root}")
    assert digests["link"] == digest_bytes(b"{root}/project")


def test_a_large_file_is_hashed_as_it_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HIDE_MAX", 3)
    state = take(root, exclude=("project/inner",), hide=str.upper)
    assert state.entries[1].digest == digest_bytes(b"text")


def settled(path: Path) -> None:
    """Wait, by looking at the file system's own clock, until a file's last change lies in an earlier tick."""
    changed = path.lstat().st_ctime_ns
    probe = path.parent.parent
    while probe.lstat().st_ctime_ns <= changed:
        probe.chmod(probe.lstat().st_mode & 0o7777)


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    read: list[bytes] = []
    really_open = os.open

    def counted(path: bytes, flags: int) -> int:
        read.append(Path(os.fsdecode(path)).name.encode())
        return really_open(path, flags)

    monkeypatch.setattr(os, "open", counted)
    return read


def test_a_file_at_rest_is_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settled(root / "project" / "inner" / "file")
    fingerprinter = Fingerprinter()
    read = count_reads(monkeypatch)
    first = fingerprinter.take(root)
    assert fingerprinter.take(root) == first == take(root)
    assert read == [b"file"] * 4  # two files once by the first object, once more by the last


def test_a_forged_modification_time_does_not_hide_a_write(root: Path) -> None:
    path = root / "project" / "file"
    settled(root / "project" / "inner" / "file")
    fingerprinter = Fingerprinter()
    before = fingerprinter.take(root)
    found = path.stat()
    path.write_text("TEXT")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert path.stat().st_size == found.st_size
    assert path.stat().st_mtime_ns == found.st_mtime_ns
    assert changes(before, fingerprinter.take(root)) == [("project/file", "modified")]


def test_another_mode_is_seen_of_what_was_at_rest(root: Path) -> None:
    settled(root / "project" / "inner" / "file")
    fingerprinter = Fingerprinter()
    before = fingerprinter.take(root)
    (root / "project" / "file").chmod(0o600)
    (root / "project" / "inner").chmod(0o700)
    assert changes(before, fingerprinter.take(root)) == [("project/file", "modified"), ("project/inner", "modified")]


def test_writes_faster_than_the_clocks_tick_are_all_seen(root: Path) -> None:
    path = root / "project" / "file"
    fingerprinter = Fingerprinter()
    for number in range(300):
        path.write_text(f"{number:04}")
        found = {entry.path: entry.digest for entry in fingerprinter.take(root).entries}
        assert found["project/file"] == digest_bytes(f"{number:04}".encode())


@pytest.mark.parametrize(("later", "reads"), [(0, 2), (1, 1)])
def test_a_file_written_in_the_present_tick_is_read_again(
    root: Path, monkeypatch: pytest.MonkeyPatch, later: int, reads: int
) -> None:
    present = (root / "project" / "file").stat().st_ctime_ns + later
    monkeypatch.setattr(Ticks, "now", lambda _: present)
    fingerprinter = Fingerprinter()
    read = count_reads(monkeypatch)
    for _ in range(2):
        fingerprinter.take(root, exclude=("project/inner",))
    assert len(read) == reads


def test_without_the_right_to_stamp_nothing_is_remembered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: bytes, mode: int) -> None:
        raise PermissionError(path)

    settled(root / "project" / "inner" / "file")
    monkeypatch.setattr(os, "chmod", refused)
    fingerprinter = Fingerprinter()
    read = count_reads(monkeypatch)
    assert fingerprinter.take(root) == fingerprinter.take(root)
    assert len(read) == 4


def test_a_directory_at_rest_is_listed_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settled(root / "project" / "inner" / "file")
    settled(root / "project")
    fingerprinter = Fingerprinter()
    first = fingerprinter.take(root)
    while fingerprinter._at_rest is None:  # the root, whose attributes were set in the present tick
        assert fingerprinter.take(root) is first
    listed: list[bytes] = []
    really_list = os.listdir

    def counted(path: bytes) -> list[bytes]:
        listed.append(path)
        return really_list(path)

    monkeypatch.setattr(os, "listdir", counted)
    assert fingerprinter.take(root) is first
    assert fingerprinter.take(root, exclude=("project/inner",)) == take(root, exclude=("project/inner",))
    assert listed == [os.fsencode(path) for path in (root, root / "project")]  # by the object that is new


def test_a_workspace_that_was_just_made_is_read_once_where_every_change_is_stamped_apart(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ticks, "_is_multigrain", lambda _: True)
    (root / "project" / "file").write_text("now")
    fingerprinter = Fingerprinter()
    first = fingerprinter.take(root)
    monkeypatch.setattr(Fingerprinter, "_walked", None)
    assert fingerprinter.take(root) is first


def test_names_that_come_and_go_faster_than_the_clocks_tick_are_all_seen(root: Path) -> None:
    folder = root / "project" / "inner"
    fingerprinter = Fingerprinter()
    for number in range(150):
        (folder / f"{number}").touch()
        assert f"project/inner/{number}" in types(fingerprinter.take(root))
        (folder / f"{number}").unlink()
        assert f"project/inner/{number}" not in types(fingerprinter.take(root))


def test_a_directory_in_the_place_of_another_is_listed(root: Path) -> None:
    other = root / "other"
    other.mkdir()
    (other / "new").touch()
    found = (root / "project" / "inner").stat()
    settled(other / "new")
    fingerprinter = Fingerprinter()
    fingerprinter.take(root)
    (root / "project" / "inner").rename(root / "gone")
    other.rename(root / "project" / "inner")
    os.utime(root / "project" / "inner", ns=(found.st_atime_ns, found.st_mtime_ns))
    assert {"project/inner/new", "gone/file"} <= types(fingerprinter.take(root)).keys()


def becomes_a_link(folder: Path) -> None:
    """Its content is what it was, elsewhere."""
    folder.rename(folder.parent.parent / "gone")
    folder.symlink_to("../gone")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file is written": lambda root: (root / "project" / "file").write_text("TEXT"),
    "a mode is set": lambda root: (root / "project" / "inner").chmod(0o700),
    "a name comes": lambda root: (root / "project" / "inner" / "new").touch(),
    "a name goes": lambda root: (root / "project" / "inner" / "file").unlink(),
    "a name comes in the root": lambda root: (root / "new").symlink_to("project"),
    "a folder becomes a link": lambda root: becomes_a_link(root / "project" / "inner"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_changes_in_a_workspace_that_was_all_at_rest_is_seen_at_the_next_look(
    root: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    settled(root / "project" / "inner" / "file")
    settled(root / "project")
    fingerprinter = Fingerprinter()
    first = fingerprinter.take(root)
    # the root is stamped at each look until its stamp shows whose clock it is, which another process can delay
    while fingerprinter._at_rest is None:
        while time.clock_gettime_ns(ticks.COARSE) <= root.lstat().st_ctime_ns:
            pass
        assert fingerprinter.take(root) is first
    with monkeypatch.context() as patched:
        patched.setattr(Fingerprinter, "_entry", None)
        assert fingerprinter.take(root) is first  # nothing but times and sizes is asked for
    assert fingerprinter.take(root, exclude=("project",)) == take(root, exclude=("project",)) != first
    assert fingerprinter.take(root) == first
    change(root)
    assert fingerprinter.take(root) == take(root) != first
