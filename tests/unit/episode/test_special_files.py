"""Something else in the place of a file of an episode: no pipe is waited for, and no device is read without end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from driving import Driving, Killed, kill_when
from toy import Stage


class Hangs(BaseException):
    """It took far too long."""


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    def over(*_: object) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


NAMES = ("journal.jsonl", "lease.json", "lease.lock", "place.json", "turn-1.main.1.reply", "a text", "a state")


@pytest.fixture
def killed(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driving:
    driving = Driving(stage, tmp_path / "episode")
    with monkeypatch.context() as patch:
        kill_when(patch, "turn_committed")
        with pytest.raises(Killed):
            driving.drive()
    return driving


def named(folder: Path, name: str) -> list[Path]:
    """The files of an episode that a name means."""
    if name == "a text":
        return [path for path in (folder / "spool").iterdir() if path.suffix != ".reply"]
    if name == "a state":
        return list((folder / "states").iterdir())
    return [folder / ("spool" if name.endswith(".reply") else "") / name]


@pytest.mark.parametrize("put", [pipe, endless])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_refused_at_once_and_nothing_is_asked_again(
    killed: Driving, name: str, put: Callable[[Path], None]
) -> None:
    for path in named(killed.folder, name):
        path.unlink(missing_ok=True)
        put(path)
    played = killed.drive()
    assert (played.receipt.outcome.status, played.receipt.verdict) == ("rejected", "not_judged")
    assert killed.provider.asked == [1]


@pytest.mark.parametrize("put", [pipe, endless])
@pytest.mark.parametrize("name", [".place.json.part", ".lease.json.part"])
def test_what_lies_where_a_file_is_written_beside_gives_way(
    stage: Stage, tmp_path: Path, name: str, put: Callable[[Path], None]
) -> None:
    driving = Driving(stage, tmp_path / "episode")
    driving.folder.mkdir()
    put(driving.folder / name)
    assert driving.drive().receipt.verdict == "pass"
