"""What is removed beside the next episode is removed once, by somebody, before the end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from machine import PATIENCE_S

from harness.workspace import Left, Removals, removal, removing, reserve, sweep

#: Ends at once, so that what is asked of it is lost.
GONE = "import sys; sys.exit()"
#: Never answers.
STUCK = "import signal; signal.pause()"


class Told:
    """What is told of the removals, by name, and by which thread."""

    def __init__(self) -> None:
        self.gone: dict[str, list[bool]] = {}

    def of(self, root: Path) -> Left:
        """To be told of one."""
        return self.gone.setdefault(root.name, []).append


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes that were begun, which have ended when the test has."""
    processes: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def begin(argv: list[str], **how: object) -> subprocess.Popen[bytes]:
        processes.append(real(argv, **how))  # type: ignore[call-overload]  # as it was called
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", begin)
    yield processes
    for process in processes:
        process.kill()
        process.wait()


def full(place: Path, name: str) -> Path:
    """A directory with something in it."""
    (place / name / "inner").mkdir(parents=True)
    (place / name / "inner" / "file").write_text("x")
    return place / name


def test_the_first_are_removed_at_once_and_the_rest_by_one_process_that_is_waited_for(
    tmp_path: Path, told: Told, begun: list[subprocess.Popen[bytes]]
) -> None:
    removals = Removals(alone=2)
    for name in "ab":
        removals.hand_over(full(tmp_path, name), told.of(tmp_path / name))
    assert (told.gone, begun) == ({"a": [True], "b": [True]}, [])
    odd = "c\nd 'e"
    for name in (odd, "f", "missing"):
        root = tmp_path / name if name == "missing" else full(tmp_path, name)
        removals.hand_over(root, told.of(root))
    assert len(begun) == 1
    removals.close()
    removals.close()
    assert told.gone == {name: [True] for name in ("a", "b", odd, "f", "missing")}
    assert (list(tmp_path.iterdir()), begun[0].returncode) == ([], 0)


def test_who_asked_is_told_with_the_next_one_that_is_handed_over(
    tmp_path: Path, told: Told, begun: list[subprocess.Popen[bytes]]
) -> None:
    with closing(Removals(alone=0)) as removals:
        removals.hand_over(full(tmp_path, "a"), told.of(tmp_path / "a"))
        for number in range(10_000):
            if told.gone["a"]:
                break
            removals.hand_over(tmp_path / f"missing-{number}", lambda _: None)
            threading.Event().wait(0.001)
        assert (told.gone["a"], len(begun)) == ([True], 1)


def test_what_cannot_be_removed_is_told_as_left(tmp_path: Path, told: Told) -> None:
    file = tmp_path / "file"  # of which no directory can be opened, by nobody
    file.write_text("x")
    removals = Removals(alone=0)
    removals.hand_over(file, told.of(file))
    removals.close()
    assert (told.gone, file.exists()) == ({"file": [False]}, True)


def test_one_more_than_may_wait_is_removed_at_once(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch, begun: list[subprocess.Popen[bytes]]
) -> None:
    monkeypatch.setattr(removing, "SCRIPT", script(tmp_path, STUCK))
    removals = Removals(alone=0, waiting=1)
    removals.hand_over(tmp_path / "first", told.of(tmp_path / "first"))
    removals.hand_over(full(tmp_path, "second"), told.of(tmp_path / "second"))
    assert told.gone == {"first": [], "second": [True]}
    assert not (tmp_path / "second").exists()
    begun[0].kill()
    removals.close()
    assert told.gone["first"] == [True]


def script(place: Path, text: str) -> str:
    """A file with that program in it."""
    file = place / "script.py"
    file.write_text(text)
    return str(file)


def test_what_a_process_that_ended_was_asked_for_is_done_by_this_one(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch, begun: list[subprocess.Popen[bytes]]
) -> None:
    monkeypatch.setattr(removing, "SCRIPT", script(tmp_path, GONE))
    removals = Removals(alone=0)
    names = [f"root-{number}" for number in range(4)]
    removals.hand_over(full(tmp_path, names[0]), told.of(tmp_path / names[0]))
    begun[0].wait(PATIENCE_S)
    for name in names[1:]:
        removals.hand_over(full(tmp_path, name), told.of(tmp_path / name))
    removals.close()
    assert told.gone == {name: [True] for name in names}
    assert ([path.name for path in tmp_path.iterdir()], len(begun)) == (["script.py"], 1)


def test_where_no_process_can_begin_all_is_done_by_this_one(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    removals = Removals(alone=0)
    for name in "ab":
        removals.hand_over(full(tmp_path, name), told.of(tmp_path / name))
    assert told.gone == {"a": [True], "b": [True]}
    removals.close()


def test_what_comes_after_the_end_is_done_at_once(
    tmp_path: Path, told: Told, begun: list[subprocess.Popen[bytes]]
) -> None:
    removals = Removals(alone=0)
    removals.close()
    removals.hand_over(full(tmp_path, "a"), told.of(tmp_path / "a"))
    assert (told.gone, begun) == ({"a": [True]}, [])


def test_a_key_pressed_in_a_removal_leaves_nothing_behind(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def pressed(root: Path) -> bool:
        tries.append(root)
        if len(tries) == 1:
            raise KeyboardInterrupt
        return removal.is_removed(root)

    monkeypatch.setattr(removing, "is_removed", pressed)
    root = full(tmp_path, "a")
    with pytest.raises(KeyboardInterrupt):
        Removals().hand_over(root, told.of(root))
    assert (told.gone, root.exists()) == ({"a": [True]}, False)


def test_the_process_ends_with_the_one_that_asks_has_no_keys_and_is_not_reached_by_its_terminal(
    tmp_path: Path, told: Told, begun: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    removals = Removals(alone=0)
    removals.hand_over(full(tmp_path, "a"), told.of(tmp_path / "a"))
    (process,) = begun
    assert os.getsid(process.pid) == process.pid
    assert Path(f"/proc/{process.pid}/environ").read_bytes() == b""
    assert process.stdin is not None
    process.stdin.close()  # as whoever is killed closes it
    assert process.wait(PATIENCE_S) == 0
    assert not (tmp_path / "a").exists()
    removals.close()
    assert told.gone == {"a": [True]}


def test_many_threads_hand_over_at_once_and_each_is_told_once(tmp_path: Path, told: Told) -> None:
    removals = Removals(alone=4, waiting=8)
    roots = [full(tmp_path, f"root-{number}") for number in range(60)]

    def hand(part: list[Path]) -> None:
        for root in part:
            removals.hand_over(root, told.of(root))

    threads = [threading.Thread(target=hand, args=(roots[first::6],)) for first in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    removals.close()
    assert told.gone == {root.name: [True] for root in roots}
    assert list(tmp_path.iterdir()) == []


def test_a_workspace_that_waits_for_its_removal_still_has_an_owner(tmp_path: Path) -> None:
    waiting: list[tuple[Path, Left]] = []
    with reserve(roots=("project",), base=tmp_path, later=lambda root, left: waiting.append((root, left))) as workspace:
        (workspace.cwd / "file").write_text("x")
    assert workspace.root.is_dir()
    assert sweep(tmp_path) == 0
    ((root, left),) = waiting
    removing.leave(root, left)
    assert list(tmp_path.iterdir()) == []


def test_the_owner_of_one_that_could_not_be_removed_stays_for_a_sweep(tmp_path: Path) -> None:
    with reserve(roots=("project",), base=tmp_path, later=lambda _, left: left(False)) as workspace:
        pass
    assert workspace.root.is_dir()
    assert sweep(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_kept_workspace_is_not_handed_over(tmp_path: Path) -> None:
    waiting: list[Path] = []
    with reserve(roots=("project",), base=tmp_path, keep=True, later=lambda root, _: waiting.append(root)) as workspace:
        pass
    assert (waiting, workspace.root.is_dir()) == ([], True)
