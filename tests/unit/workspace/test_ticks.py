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


def test_a_later_change_is_not_stamped_with_an_earlier_time(tmp_path: Path) -> None:
    clock, path = Ticks(os.fsencode(tmp_path)), tmp_path / "file"
    for number in range(300):
        present = clock.now()
        path.write_text(str(number))
        assert present is not None
        assert path.lstat().st_ctime_ns >= present


def test_time_goes_on(tmp_path: Path) -> None:
    clock = Ticks(os.fsencode(tmp_path))
    first = clock.now()
    assert first is not None
    while (now := clock.now()) is not None and now <= first:
        pass
    assert now is not None


def test_a_directory_is_stamped_until_it_shows_that_its_file_system_goes_by_the_kernels_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = stamps(monkeypatch, lambda stamp: stamp)
    clock = Ticks(os.fsencode(tmp_path))
    # one stamp nearly always: it says nothing where another file was stamped more finely within the same tick
    for _ in range(1000):
        clock.now()
        if clock._is_kernels:
            break
    stamped = len(seen)
    assert None not in {clock.now() for _ in range(5)}
    assert len(seen) == stamped < 1000


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


def test_where_the_system_tells_no_tick_the_directory_is_stamped_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(clock: int) -> int:
        raise OSError(clock)

    monkeypatch.setattr(time, "clock_gettime_ns", refused)
    seen = stamps(monkeypatch, lambda stamp: stamp)
    clock = Ticks(os.fsencode(tmp_path))
    assert [clock.now() for _ in range(3)] == seen
