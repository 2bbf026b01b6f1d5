import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.errors import ControlPlaneError
from harness.executors.process import ProcessExecutor
from harness.executors.shadow import ShadowCounts, ShadowExecutor, differing
from harness.schema.process import Completed, ProcessCommand


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessExecutor]:
    executor = ProcessExecutor()
    yield executor
    executor.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project" / "deep").mkdir(parents=True)
    (tmp_path / "project" / "deep" / "file").write_text("as it was")
    (tmp_path / "project" / "link").symlink_to("deep/file")
    (tmp_path / "lock").write_text("stays")
    return tmp_path


@dataclass
class Other:
    """A second executor that runs something else, or fails."""

    real: ProcessExecutor
    script: str | None = None
    ran: list[str] = field(default_factory=list)

    def run(self, command: ProcessCommand) -> Completed:
        self.ran.append(command.argv[-1])
        if self.script == "fail":
            raise ControlPlaneError("cannot start")
        argv = ("sh", "-c", self.script) if self.script is not None else command.argv
        return self.real.run(command.model_copy(update={"argv": argv}))

    def close(self) -> None:
        self.real.close()


def command(root: Path, script: str) -> ProcessCommand:
    return ProcessCommand(argv=("sh", "-c", script), cwd=str(root / "project"), env={"PATH": os.environ["PATH"]})


CHANGES = "cat deep/file; echo changed > deep/file; mkdir ../runtime; echo new > ../runtime/log; pwd"


def test_cold_call_sees_the_state_before_and_the_warm_state_remains(process: ProcessExecutor, root: Path) -> None:
    cold = Other(process)
    shadow = ShadowExecutor(process, cold, every=1, root=root)
    inode = (root / "project" / "deep" / "file").stat().st_ino
    done = shadow.run(command(root, CHANGES))
    assert done.stdout.decode() == f"as it was{root / 'project'}\n"
    assert shadow.counts == ShadowCounts(checks=1)
    assert cold.ran == [CHANGES]
    assert (root / "project" / "deep" / "file").read_text() == "changed\n"
    assert (root / "project" / "deep" / "file").stat().st_ino == inode
    assert (root / "runtime" / "log").read_text() == "new\n"
    assert sorted(path.name for path in root.iterdir()) == ["lock", "project", "runtime"]


def test_difference_is_counted_by_name_and_the_warm_answer_is_given(process: ProcessExecutor, root: Path) -> None:
    cold = Other(process, script="echo secret; echo e >&2; exit 1; ")
    shadow = ShadowExecutor(process, cold, every=1, root=root)
    assert shadow.run(command(root, "echo warm")).stdout == b"warm\n"
    assert shadow.counts == ShadowCounts(checks=1, differences=1, differing=["exit_code", "stdout", "stderr"])


def test_an_answer_that_goes_by_the_hour_is_no_difference_where_the_hour_turns_between_two_calls(
    process: ProcessExecutor, root: Path
) -> None:
    hour = root / "hour"
    hour.write_text("one")
    cold = Other(process, script="echo two > ../hour; cat ../hour")
    shadow = ShadowExecutor(process, cold, every=1, root=root)
    assert shadow.run(command(root, "cat ../hour; echo done > deep/file")).stdout == b"one"
    assert shadow.counts == ShadowCounts(checks=1)
    assert cold.ran == ["cat ../hour; echo done > deep/file"] * 2
    assert (root / "project" / "deep" / "file").read_text() == "done\n"


def test_an_answer_that_counts_the_seconds_since_something_is_no_difference(
    process: ProcessExecutor, root: Path
) -> None:
    (root / "age").write_text('{"age": 1, "is": "so"}')
    later = """echo '{"age": 2, "is": "so"}'; echo '{"age": 3, "is": "so"}' > ../age"""
    shadow = ShadowExecutor(process, Other(process, script=later), every=1, root=root)
    shadow.run(command(root, "cat ../age"))
    assert (shadow.counts.checks, shadow.counts.differing) == (1, [])


def test_a_difference_beside_what_goes_by_time_is_one(process: ProcessExecutor, root: Path) -> None:
    (root / "age").write_text('{"age": 1, "is": "so"}')
    later = """echo '{"age": 2, "is": "not so"}'; echo '{"age": 3, "is": "so"}' > ../age"""
    shadow = ShadowExecutor(process, Other(process, script=later), every=1, root=root)
    shadow.run(command(root, "cat ../age"))
    assert (shadow.counts.checks, shadow.counts.differing) == (1, ["stdout"])


def test_only_every_nth_call_is_repeated_over_all_who_share_a_counter(process: ProcessExecutor, root: Path) -> None:
    cold, turn = Other(process), itertools.count(1).__next__
    shadows = [ShadowExecutor(process, cold, every=3, root=root, turn=turn) for _ in range(2)]
    for number in range(8):
        shadows[number % 2].run(command(root, f"echo {number}"))
    assert cold.ran == ["echo 2", "echo 5"]


def test_programs_that_nothing_keeps_warm_are_neither_repeated_nor_counted(
    process: ProcessExecutor, root: Path
) -> None:
    cold = Other(process, script="echo a second later")
    shadow = ShadowExecutor(process, cold, every=2, root=root, program="sh")
    kept_warm = command(root, "echo warm")
    clock = kept_warm.model_copy(update={"argv": ("date",)})
    for one in (kept_warm, clock, clock, kept_warm):
        shadow.run(one)
    assert shadow.counts == ShadowCounts(checks=1, differences=1, differing=["stdout"])


def test_zero_means_never(process: ProcessExecutor, root: Path) -> None:
    cold = Other(process)
    shadow = ShadowExecutor(process, cold, every=0, root=root)
    assert shadow.run(command(root, "echo x")).stdout == b"x\n"
    shadow.close()
    assert cold.ran == []


def test_world_comes_back_when_the_cold_call_fails(process: ProcessExecutor, root: Path) -> None:
    shadow = ShadowExecutor(process, Other(process, script="fail"), every=1, root=root)
    with pytest.raises(ControlPlaneError):
        shadow.run(command(root, CHANGES))
    assert (root / "runtime" / "log").read_text() == "new\n"
    assert (root / "project" / "deep" / "file").read_text() == "changed\n"
    assert not (root / ".shadow").exists()


def test_world_that_cannot_be_copied_is_run_once_and_counted(process: ProcessExecutor, root: Path) -> None:
    os.mkfifo(root / "project" / "pipe")
    cold = Other(process)
    shadow = ShadowExecutor(process, cold, every=1, root=root)
    assert shadow.run(command(root, "echo once")).stdout == b"once\n"
    assert (shadow.counts, cold.ran) == (ShadowCounts(skipped=1), [])


def test_world_that_cannot_be_put_back_in_place_is_run_once_and_counted(
    process: ProcessExecutor, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name == "runtime" and "after" in str(target):
            raise OSError
        return real(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    cold = Other(process)
    shadow = ShadowExecutor(process, cold, every=1, root=root)
    shadow.run(command(root, CHANGES))
    assert (shadow.counts, cold.ran) == (ShadowCounts(skipped=1), [])
    assert (root / "project" / "deep" / "file").read_text() == "changed\n"
    assert (root / "runtime" / "log").read_text() == "new\n"


def answer(stdout: bytes) -> Completed:
    return Completed(exit_code=0, stdout=stdout, stderr=b"", stdout_seen=0, stderr_seen=0)


@pytest.mark.parametrize(
    ("one", "other", "volatile", "found"),
    [
        (b'{"a": {"id": 1}, "b": 2}', b'{"a": {"id": 9}, "b": 2}', ("/a/id",), []),
        (b'{"a": {"id": 1}, "b": 2}', b'{"a": {"id": 9}, "b": 3}', ("/a/id",), ["stdout"]),
        (b'{"a": {"id": 1}}', b'{"a": {"id": 9}}', (), ["stdout"]),
        (b'[{"x/y": 1}]', b'[{"x/y": 2}]', ("/0/x~1y", "/5/x", "/a/b"), []),
        (b"at 2026-01-01T00:00:00Z", b"at 2031-12-31T23:59:59.123+08:00", (), []),
        (b"at 1", b"at 2", ("/a",), ["stdout"]),
    ],
)
def test_comparison_leaves_out_times_and_volatile_pointers_only(
    one: bytes, other: bytes, volatile: tuple[str, ...], found: list[str]
) -> None:
    assert differing(answer(one), answer(other), volatile) == found


CHANCE = "'$(cat /proc/sys/kernel/random/uuid)'"
BY_CHANCE = f"""echo '{{"id": "{CHANCE}", "ids": [1, "{CHANCE}"], "n": %s}}'"""


def test_what_no_two_calls_agree_on_is_no_difference(process: ProcessExecutor, root: Path) -> None:
    shadow = ShadowExecutor(process, Other(process), every=1, root=root)
    shadow.run(command(root, f"{CHANGES} > /dev/null; {BY_CHANCE % 1}"))
    assert shadow.counts == ShadowCounts(checks=1)
    assert sorted(path.name for path in root.iterdir()) == ["lock", "project", "runtime"]


def test_what_calls_do_agree_on_is_held_beside_what_they_do_not(process: ProcessExecutor, root: Path) -> None:
    shadow = ShadowExecutor(process, Other(process, script=BY_CHANCE % 2), every=1, root=root)
    shadow.run(command(root, BY_CHANCE % 1))
    assert shadow.counts == ShadowCounts(checks=1, differences=1, differing=["stdout"])
