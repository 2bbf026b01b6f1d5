from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.workspace import ticks
from harness.workspace.ticks import Ticks


def stamps(monkeypatch: pytest.MonkeyPatch, told: Callable[[int | None], int | None]) -> list[int | None]:
    """What the directory was stamped with, each time that it was; ``told`` makes of it what the file system says."""
    seen: list[int | None] = []
    really = ticks._stamp

    def stamp(top: bytes) -> int | None:
        seen.append(told(really(top)))
        return seen[-1]

    monkeypatch.setattr(ticks, "_stamp", stamp)
    return seen


@pytest.fixture
def by_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that stamps with the tick, as far as it is tried out."""
    monkeypatch.setattr(ticks, "_is_multigrain", lambda _: False)


def changes_that_go_unseen(clock: Ticks, path: Path) -> int:
    """How many later changes leave a change time that lies before the present, as it was told, as it is."""
    unseen = 0
    for number in range(2000):
        path.write_text(f"{number:04}")
        changed, present = path.lstat().st_ctime_ns, clock.now()
        path.write_text(f"{number + 1:04}")
        unseen += present is not None and changed < present and changed == path.lstat().st_ctime_ns
    return unseen


def test_a_later_change_of_what_was_looked_at_gets_another_time(tmp_path: Path) -> None:
    assert changes_that_go_unseen(Ticks(os.fsencode(tmp_path)), tmp_path / "file") == 0


@pytest.mark.usefixtures("by_ticks")
def test_by_ticks_a_later_change_is_not_stamped_with_an_earlier_time(tmp_path: Path) -> None:
    clock, path = Ticks(os.fsencode(tmp_path)), tmp_path / "file"
    for number in range(300):
        present = clock.now()
        path.write_text(str(number))
        assert present is not None
        assert path.lstat().st_ctime_ns >= present


#: Of a clock that the next stamps are made of: the last tick, a millisecond, itself, another one.
STAMPS: dict[str, tuple[Callable[[], int], bool]] = {
    "the last tick": (lambda: time.clock_gettime_ns(ticks.COARSE), False),
    "the time in milliseconds": (lambda: time.time_ns() // 10**6 * 10**6, False),
    "the time": (lambda: time.time_ns() | 1, True),
    "an hour ago": (lambda: time.time_ns() - 3_600 * 10**9, False),
    "in an hour": (lambda: time.time_ns() + 3_600 * 10**9, False),
}


@pytest.mark.parametrize(("stamp", "shown"), STAMPS.values(), ids=STAMPS)
def test_a_file_system_shows_that_it_stamps_with_the_time_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stamp: Callable[[], int], shown: bool
) -> None:
    monkeypatch.setattr(ticks, "_stamp", lambda _: stamp())
    # nothing is shown by chance where something else ran in between
    assert any(ticks._is_multigrain(os.fsencode(tmp_path)) for _ in range(1000)) is shown


def test_what_took_longer_than_a_tick_may_take_shows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter(range(0, 100 * 10**6, 10**6 + 1))
    monkeypatch.setattr(time, "time_ns", lambda: next(told))
    monkeypatch.setattr(ticks, "_stamp", lambda _: time.time_ns())
    assert not any(ticks._is_multigrain(os.fsencode(tmp_path)) for _ in range(10))


def test_time_goes_on(tmp_path: Path) -> None:
    clock = Ticks(os.fsencode(tmp_path))
    first = clock.now()
    assert first is not None
    while (now := clock.now()) is not None and now <= first:
        pass
    assert now is not None


@pytest.mark.usefixtures("by_ticks")
def test_a_directory_is_stamped_until_it_shows_that_its_file_system_goes_by_the_kernels_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = stamps(monkeypatch, lambda stamp: stamp)
    clock = Ticks(os.fsencode(tmp_path))
    # one stamp nearly always: it says nothing where another file was stamped more finely within the same tick
    for _ in range(1000):
        clock.now()
        if clock._clock is not None:
            break
    stamped = len(seen)
    assert None not in {clock.now() for _ in range(5)}
    assert len(seen) == stamped < 1000


@pytest.mark.usefixtures("by_ticks")
@pytest.mark.parametrize("off_by_ns", [-3_600 * 10**9, -20 * 10**6, 20 * 10**6])
def test_a_directory_of_another_clock_is_stamped_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, off_by_ns: int
) -> None:
    seen = stamps(monkeypatch, lambda stamp: None if stamp is None else stamp + off_by_ns)
    clock = Ticks(os.fsencode(tmp_path))
    assert [clock.now() for _ in range(5)] == seen


def test_who_may_not_stamp_is_told_nothing(tmp_path: Path) -> None:
    clock = Ticks(os.fsencode(tmp_path / "missing"))
    assert clock.now() is None


@pytest.mark.usefixtures("by_ticks")
def test_where_the_system_tells_no_tick_the_directory_is_stamped_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(clock: int) -> int:
        raise OSError(clock)

    monkeypatch.setattr(time, "clock_gettime_ns", refused)
    seen = stamps(monkeypatch, lambda stamp: stamp)
    clock = Ticks(os.fsencode(tmp_path))
    assert [clock.now() for _ in range(3)] == seen
