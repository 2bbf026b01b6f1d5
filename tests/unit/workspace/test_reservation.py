from __future__ import annotations

import fcntl
import os
import re
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from cramped import small_files

from harness.errors import EnvironmentProblem, SetupRejectedError
from harness.workspace import Left, removal, reserve, sweep
from harness.workspace.owning import MARK
from harness.workspace.removal import remove_tree
from harness.workspace.removing import leave

ROOTS = ("project", "runtime", "home")

OWNER_THAT_WAITS = """
import sys
from pathlib import Path
from harness.workspace import reserve
with reserve(roots=("project",), base=Path(sys.argv[1]), keep=sys.argv[2] == "keep") as workspace:
    (workspace.cwd / "file").write_text("x")
    print(workspace.root, flush=True)
    sys.stdin.read()
"""

PARENT_AND_CHILD = """
import os, sys
from pathlib import Path
from harness.workspace import reserve
from harness.workspace.removing import leave
later = []
def keep(root, left):
    later.append((root, left))
def name_of_a_new_one():
    with reserve(roots=("project",), base=Path(sys.argv[1]), later=keep) as workspace:
        return workspace.root.name
parents = name_of_a_new_one()
child = os.fork()
if child == 0:
    print(name_of_a_new_one(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(parents, flush=True)
leave(*later[0])
"""


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def start_owner(base: Path, how: str = "remove") -> tuple[subprocess.Popen[str], Path]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER_THAT_WAITS, str(base), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    return owner, Path(owner.stdout.readline().rstrip("\n"))


def end(owner: subprocess.Popen[str], *, kill: bool) -> None:
    if kill:
        owner.kill()
    owner.communicate()


def test_reserve_makes_private_directory_with_roots_and_an_empty_process_home(tmp_path: Path) -> None:
    with reserve(roots=ROOTS, absent=("runtime",), base=tmp_path) as workspace:
        assert re.fullmatch(r"harness-[a-z0-9_]{8}", workspace.root.name)
        assert workspace.root.parent == tmp_path.resolve()
        assert stat.S_IMODE(workspace.root.stat().st_mode) == 0o700
        assert names_in(workspace.root) == ["home", "process_home", "project"]
        assert workspace.roots == {name: workspace.root / name for name in ROOTS}
        assert workspace.process_home == workspace.root / "process_home"
        assert list(workspace.process_home.iterdir()) == []
        assert workspace.cwd == workspace.roots["project"]


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_reserve_gives_the_same_modes_under_any_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with reserve(roots=ROOTS, base=tmp_path) as workspace:
            assert stat.S_IMODE(workspace.root.stat().st_mode) == 0o700
            assert {stat.S_IMODE(path.stat().st_mode) for path in workspace.root.iterdir()} == {0o755}
    finally:
        os.umask(before)


def test_reserve_uses_the_systems_temporary_directory_without_a_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with reserve(roots=("project",)) as workspace:
        assert workspace.root.parent == tmp_path.resolve()
    assert list(tmp_path.iterdir()) == []


def test_reserve_resolves_links_and_remembers_the_given_spelling(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with reserve(roots=("project",), base=tmp_path / "link") as workspace:
        assert workspace.root.parent == (tmp_path / "real").resolve()
        assert workspace.given == tmp_path / "link" / workspace.root.name


@pytest.mark.parametrize(("roots", "cwd", "wanted"), [(("a", "b"), None, "a"), (("a", "b"), "b", "b")])
def test_cwd_is_the_named_root_or_the_first_without_a_project(
    tmp_path: Path, roots: tuple[str, ...], cwd: str | None, wanted: str
) -> None:
    with reserve(roots=roots, base=tmp_path, cwd=cwd) as workspace:
        assert workspace.cwd == workspace.roots[wanted]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_nothing_is_left_after_an_exception(tmp_path: Path, error: type[BaseException]) -> None:
    def used() -> None:
        with reserve(roots=ROOTS, base=tmp_path) as workspace:
            (workspace.cwd / "file").write_text("x")
            raise error

    with pytest.raises(error):
        used()
    assert list(tmp_path.iterdir()) == []


def test_keep_leaves_the_workspace_and_sweep_respects_it(tmp_path: Path) -> None:
    with reserve(roots=ROOTS, base=tmp_path, keep=True) as workspace:
        assert sweep(tmp_path) == 0
    assert sweep(tmp_path) == 0
    assert list(tmp_path.iterdir()) == [workspace.root]
    assert workspace.cwd.is_dir()


@pytest.mark.parametrize(
    ("roots", "absent", "cwd"),
    [
        ((), (), None),
        (("project", "project"), (), None),
        (("process_home",), (), None),
        (("fixture",), (), None),
        (("../out",), (), None),
        (("project",), ("runtime",), None),
        (("project",), (), "home"),
    ],
)
def test_reserve_refuses_names_that_cannot_be_roots(
    tmp_path: Path, roots: tuple[str, ...], absent: tuple[str, ...], cwd: str | None
) -> None:
    with (
        pytest.raises(SetupRejectedError, match="workspace"),
        reserve(roots=roots, absent=absent, base=tmp_path, cwd=cwd),
    ):
        pytest.fail("a workspace was made")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("base", ["missing", "file"])
def test_a_temporary_directory_that_cannot_be_used_is_one_clear_line(tmp_path: Path, base: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentProblem, match="TMPDIR"), reserve(roots=ROOTS, base=tmp_path / base):
        pytest.fail("a workspace was made")
    with pytest.raises(EnvironmentProblem, match="TMPDIR"):
        sweep(tmp_path / base)


def test_a_full_disk_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> tuple[int, str]:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkstemp", full)
    with pytest.raises(EnvironmentProblem, match="No space left"), reserve(roots=ROOTS, base=tmp_path):
        pytest.fail("a workspace was made")


def test_a_disk_that_takes_a_part_of_the_owner_file_is_one_clear_line_and_nothing_is_left(tmp_path: Path) -> None:
    with small_files(5), pytest.raises(EnvironmentProblem, match="too large; set TMPDIR"):  # noqa: SIM117
        with reserve(roots=ROOTS, base=tmp_path):
            pytest.fail("a workspace was made")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_after_the_owner_file_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "mkdir", full)
    with pytest.raises(EnvironmentProblem, match="No space left"), reserve(roots=ROOTS, base=tmp_path):
        pytest.fail("a workspace was made")
    assert list(tmp_path.iterdir()) == []


def test_sweep_removes_the_workspace_of_a_killed_owner(tmp_path: Path) -> None:
    owner, root = start_owner(tmp_path)
    end(owner, kill=True)
    assert (root / "project" / "file").exists()
    assert sweep(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_sweep_spares_a_living_owner_in_another_process(tmp_path: Path) -> None:
    owner, root = start_owner(tmp_path)
    try:
        assert sweep(tmp_path) == 0
        assert (root / "project" / "file").exists()
    finally:
        end(owner, kill=False)
    assert list(tmp_path.iterdir()) == []


def test_sweep_spares_a_kept_workspace_of_a_killed_owner(tmp_path: Path) -> None:
    owner, root = start_owner(tmp_path, "keep")
    end(owner, kill=True)
    assert sweep(tmp_path) == 0
    assert list(tmp_path.iterdir()) == [root]


def test_sweep_spares_living_owners_in_this_process(tmp_path: Path) -> None:
    with reserve(roots=ROOTS, base=tmp_path) as workspace:
        swept: list[int] = []
        thread = threading.Thread(target=lambda: swept.append(sweep(tmp_path)))
        thread.start()
        thread.join()
        assert swept == [0]
        assert sweep(tmp_path) == 0
        assert workspace.cwd.is_dir()


def test_reserving_while_others_sweep_never_loses_a_workspace(tmp_path: Path) -> None:
    stop = threading.Event()
    swept: list[int] = []

    def sweeping() -> None:
        while not stop.is_set():
            swept.append(sweep(tmp_path))

    thread = threading.Thread(target=sweeping)
    thread.start()
    try:
        for _ in range(100):
            with reserve(roots=ROOTS, base=tmp_path) as workspace:
                assert workspace.cwd.is_dir()
    finally:
        stop.set()
        thread.join()
    assert sum(swept) == 0
    assert list(tmp_path.iterdir()) == []


def dead(base: Path, name: str = "harness-abcdefgh", mark: bytes = MARK) -> Path:
    """What an owner that was killed leaves behind."""
    (base / name / "project").mkdir(parents=True)
    (base / f"{name}.owner").write_bytes(mark)
    return base / name


def test_sweep_removes_what_a_dead_owner_left(tmp_path: Path) -> None:
    dead(tmp_path)
    assert sweep(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mark", [MARK, b""])
def test_sweep_removes_an_owner_file_without_a_workspace(tmp_path: Path, mark: bytes) -> None:
    (tmp_path / "harness-abcdefgh.owner").write_bytes(mark)
    assert sweep(tmp_path) == 0
    assert list(tmp_path.iterdir()) == []


def test_sweep_spares_directories_that_only_look_like_ours(tmp_path: Path) -> None:
    (tmp_path / "harness-abcdefgh").mkdir()
    dead(tmp_path, "harness-notes")
    dead(tmp_path, "other-abcdefgh")
    dead(tmp_path, "harness-aaaaaaaa", mark=b"somebody's own file")
    dead(tmp_path, "harness-bbbbbbbb", mark=b"")
    (tmp_path / "harness-cccccccc.owner").write_bytes(b"somebody's own file")
    (tmp_path / "harness-dddddddd.owner").mkdir()
    os.mkfifo(tmp_path / "harness-eeeeeeee.owner")
    before = sorted(tmp_path.rglob("*"))
    assert sweep(tmp_path) == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_sweep_follows_no_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_bytes(MARK)
    base = tmp_path / "base"
    base.mkdir()
    (base / "harness-aaaaaaaa").symlink_to(precious)
    (base / "harness-aaaaaaaa.owner").write_bytes(MARK)
    (base / "harness-bbbbbbbb").mkdir()
    (base / "harness-bbbbbbbb.owner").symlink_to(precious / "file")
    before = sorted(base.rglob("*"))
    assert sweep(base) == 0
    assert sorted(base.rglob("*")) == before
    assert (precious / "file").exists()


@pytest.mark.parametrize("strangers", ["owner file", "directory"])
def test_sweep_spares_what_another_user_owns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strangers: str) -> None:
    root = dead(tmp_path)
    us, other = os.geteuid(), os.geteuid() + 1
    # asked once for the owner file, then once for the directory
    answers = iter([other, us] if strangers == "owner file" else [us, other])
    monkeypatch.setattr(os, "geteuid", lambda: next(answers))
    assert sweep(tmp_path) == 0
    assert root.is_dir()


def test_sweep_goes_on_after_a_workspace_that_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = dead(tmp_path, "harness-aaaaaaaa")
    dead(tmp_path, "harness-bbbbbbbb")
    remove = remove_tree

    def some(path: Path) -> None:
        if path == stuck:
            raise PermissionError(path)
        remove(path)

    monkeypatch.setattr(removal, "remove_tree", some)
    assert sweep(tmp_path) == 1
    assert names_in(tmp_path) == ["harness-aaaaaaaa", "harness-aaaaaaaa.owner"]


def test_what_cannot_be_removed_at_the_end_is_left_to_the_next_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(path: Path) -> None:
        raise PermissionError(path)

    with monkeypatch.context() as patch:
        patch.setattr(removal, "remove_tree", never)
        with reserve(roots=ROOTS, base=tmp_path):
            pass
    assert len(list(tmp_path.iterdir())) == 2
    assert sweep(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_during_removal_still_removes_and_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = remove_tree
    calls: list[Path] = []

    def interrupted_once(path: Path) -> None:
        calls.append(path)
        if len(calls) == 1:
            raise KeyboardInterrupt
        remove(path)

    monkeypatch.setattr(removal, "remove_tree", interrupted_once)
    with pytest.raises(KeyboardInterrupt), reserve(roots=ROOTS, base=tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_reserve_takes_another_name_when_a_sweep_took_its_owner_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = tempfile.mkstemp
    first: list[str] = []

    def swept_at_once(suffix: str, prefix: str, place: Path) -> tuple[int, str]:
        descriptor, name = make(suffix, prefix, place)
        if not first:
            first.append(name)
            Path(name).unlink()
        return descriptor, name

    monkeypatch.setattr(tempfile, "mkstemp", swept_at_once)
    with reserve(roots=ROOTS, base=tmp_path) as workspace:
        assert f"{workspace.root}.owner" != first[0]
        assert names_in(tmp_path) == [workspace.root.name, f"{workspace.root.name}.owner"]


class Later:
    """Keeps what is to be removed, until it is asked to."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Path, Left]] = []

    def __call__(self, root: Path, left: Left) -> None:
        self.waiting.append((root, left))

    def remove(self) -> None:
        """Remove them, the first first."""
        while self.waiting:
            leave(*self.waiting.pop(0))


def left_for_later(base: Path, count: int) -> tuple[list[Path], Later]:
    """So many workspaces, and what removes them."""
    roots, later = [], Later()
    for _ in range(count):
        with reserve(roots=ROOTS, base=base, later=later) as workspace:
            roots.append(workspace.root)
    return roots, later


def test_workspaces_that_are_removed_later_share_an_owner_file_which_goes_with_the_last_one(tmp_path: Path) -> None:
    roots, later = left_for_later(tmp_path, 3)
    assert len(set(roots)) == 3
    assert all(re.fullmatch(r"harness-[a-z0-9_]{8}-[0-9a-f]{8}", root.name) for root in roots)
    assert [path.name for path in tmp_path.glob("*.owner")] == [f"{roots[0].name.rpartition('-')[0]}.owner"]
    for at, (root, left) in enumerate(later.waiting):
        assert sweep(tmp_path) == 0
        assert all(other.is_dir() for other in roots[at:])
        leave(root, left)
        assert not roots[at].exists()
    assert list(tmp_path.iterdir()) == []
    others, later = left_for_later(tmp_path, 1)
    assert others[0].name.rpartition("-")[0] != roots[0].name.rpartition("-")[0]
    later.remove()


def test_a_workspace_at_a_known_place_or_one_that_is_kept_has_an_owner_file_of_its_own(tmp_path: Path) -> None:
    _, later = left_for_later(tmp_path, 1)
    with reserve(roots=ROOTS, base=tmp_path, later=later, name="harness-abcdefgh") as workspace:
        assert len(list(tmp_path.glob("*.owner"))) == 2
    with reserve(roots=ROOTS, base=tmp_path, later=later, keep=True) as kept:
        assert len(list(tmp_path.glob("*.owner"))) == 2
    later.remove()
    assert not workspace.root.exists()
    assert list(tmp_path.iterdir()) == [kept.root]


def test_sweep_removes_all_workspaces_of_a_dead_owner(tmp_path: Path) -> None:
    dead(tmp_path)
    for number in ("00000001", "0000000a"):
        (tmp_path / f"harness-abcdefgh-{number}" / "project").mkdir(parents=True)
    (tmp_path / "harness-abcdefgh-notes").mkdir()
    assert sweep(tmp_path) == 3
    assert names_in(tmp_path) == ["harness-abcdefgh-notes"]


def test_a_shared_owner_file_stays_while_one_of_its_workspaces_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stuck, _), later = left_for_later(tmp_path, 2)

    def never(path: Path) -> None:
        raise PermissionError(path)

    with monkeypatch.context() as patch:
        patch.setattr(removal, "remove_tree", never)
        leave(*later.waiting.pop(0))
    later.remove()
    assert names_in(tmp_path) == [stuck.name, f"{stuck.name.rpartition('-')[0]}.owner"]
    assert sweep(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_was_forked_off_does_not_share_its_parents_owner_file(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", PARENT_AND_CHILD, str(tmp_path)], capture_output=True, text=True, check=True
    )
    childs, parents = said.stdout.split()
    assert childs.rpartition("-")[0] != parents.rpartition("-")[0]
    assert childs in names_in(tmp_path)
    assert sweep(tmp_path) == 1  # the child's, which ended without removing it
    assert list(tmp_path.iterdir()) == []


def test_reserve_gives_up_when_every_name_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(*_: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(fcntl, "flock", held)
    with pytest.raises(EnvironmentProblem, match="no free name"), reserve(roots=ROOTS, base=tmp_path):
        pytest.fail("a workspace was made")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["with space", "it's", 'a"quote', "back\\slash", "dollar$x", "semi;colon", "{root}", "hash#"]
)
def test_no_workspace_is_made_where_commands_would_read_its_path_as_syntax(tmp_path: Path, name: str) -> None:
    """Its path stands in prompts and commands unquoted, as it would on any machine."""
    base = tmp_path / name
    base.mkdir()
    with reserve(roots=("project",), base=base) as workspace:
        assert name not in str(workspace.root)
        assert workspace.root.is_dir()
        assert list(base.iterdir()) == []
    assert not workspace.root.exists()


def test_what_was_made_elsewhere_is_swept_from_there(tmp_path: Path) -> None:
    base = tmp_path / "with space"
    base.mkdir()
    with reserve(roots=("project",), base=base) as workspace:
        sweep(base)
        assert workspace.root.is_dir()


def test_a_long_or_foreign_name_is_no_syntax(tmp_path: Path) -> None:
    base = tmp_path / "ünïcödé-文字" / ("deep." * 20)
    base.mkdir(parents=True)
    with reserve(roots=("project",), base=base) as workspace:
        assert workspace.root.parent == base
