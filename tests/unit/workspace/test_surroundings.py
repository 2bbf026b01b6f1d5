import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cramped import small_files

from harness.errors import MachineError
from harness.schema.scenario import FileSpec, WorkspaceSpec
from harness.workspace import populate, reserve, shortage, take


def test_nothing_is_wanting_in_an_ordinary_place_and_nothing_is_left_there(tmp_path: Path) -> None:
    assert shortage(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_files_that_must_stay_small_are_a_want(tmp_path: Path) -> None:
    with small_files(100_000):
        assert shortage(tmp_path) == "a file of 1048576 bytes cannot be made in the workspace: File too large"
    assert shortage(tmp_path) is None


def test_a_place_that_is_gone_is_somebodys_doing_and_no_want(tmp_path: Path) -> None:
    assert shortage(tmp_path / "none") is None


def test_a_limit_of_the_system_that_no_program_can_live_with_is_a_want(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = resource.getrlimit
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (12, 12) if kind == resource.RLIMIT_NOFILE else real(kind))
    assert shortage(tmp_path) == "only 12 open files are allowed here"


@pytest.mark.parametrize(
    ("made", "said"),
    [("size=256k", "No space left on device"), ("size=8m,nr_inodes=8", "only 7 more files can be made")],
)
def test_full_disc_is_a_want(made: str, said: str) -> None:
    program = shutil.which("unshare")
    asked = [program or "", "-rm", "sh", "-c"]
    if (
        program is None
        or subprocess.run([*asked, "mount -t tmpfs x /mnt"], check=False, capture_output=True).returncode
    ):
        pytest.skip("this machine mounts nothing for an ordinary user")
    script = f"mount -t tmpfs -o {made} x /mnt && exec {sys.executable} -c '{ASKED}'"
    done = subprocess.run([*asked, script], capture_output=True, text=True, check=True)
    assert said in done.stdout


ASKED = 'from pathlib import Path; from harness.workspace import shortage; print(shortage(Path("/mnt")))'


def test_file_that_does_not_fit_is_the_machines_fault_and_never_half_there(tmp_path: Path) -> None:
    spec = WorkspaceSpec(roots=("project",), file=(FileSpec(at=("project/big",), text="x" * 300_000),))
    with (
        small_files(100_000),
        reserve(roots=["project"], base=tmp_path) as workspace,
        pytest.raises(MachineError, match="cannot be made: File too large"),
    ):
        populate(workspace, spec)


def test_state_that_cannot_be_seen_whole_is_no_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        with pytest.raises(MachineError, match="the workspace cannot be looked at: Too many open files"):
            take(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert [entry.type for entry in take(tmp_path).entries] == ["file"]
