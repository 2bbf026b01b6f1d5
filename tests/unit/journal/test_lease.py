"""One driver at a time: a dead one is succeeded at once, a living one only after its lease."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from cramped import small_files

from harness.clock import FakeClock
from harness.errors import OpeningRefusedError, StorageError
from harness.journal.lease import BEAT_S, LEASE_S, Lease, leased


def die(lease: Lease) -> None:
    """As the system does when a process ends: the lock goes, the files stay."""
    os.close(lease._alive)
    lease._alive = -1


def test_a_second_driver_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    clock = FakeClock()
    first = Lease(tmp_path, clock, "one")
    with pytest.raises(OpeningRefusedError) as caught:
        Lease(tmp_path, clock, "two")
    assert caught.value.reason == "lease_held"
    with first.held():
        pass
    first.release()
    first.release()
    Lease(tmp_path, clock, "two").release()
    assert [path.name for path in tmp_path.iterdir()] == ["lease.lock"]


def test_a_driver_that_died_is_succeeded_at_once(tmp_path: Path) -> None:
    clock = FakeClock()
    die(Lease(tmp_path, clock, "one"))
    second = Lease(tmp_path, clock, "two")
    with second.held():
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lease.json", "lease.lock", "two.alive"]
    second.release()


def test_one_that_lives_but_does_not_renew_is_succeeded_after_its_lease_and_told(tmp_path: Path) -> None:
    clock = FakeClock()
    old = Lease(tmp_path, clock, "old")
    clock.advance(LEASE_S + 1)
    new = Lease(tmp_path, clock, "new")
    with pytest.raises(OpeningRefusedError) as caught, old.held():
        pytest.fail("the old driver must not append")
    assert caught.value.reason == "lease_lost"
    old.beat()
    old.release()
    with new.held():
        pass


def test_a_lease_that_is_used_or_beaten_is_renewed_in_time(tmp_path: Path) -> None:
    clock = FakeClock()
    lease = Lease(tmp_path, clock, "one")
    for _ in range(10):
        clock.advance(BEAT_S + 1)
        lease.beat()
    with pytest.raises(OpeningRefusedError):
        Lease(tmp_path, clock, "two")
    clock.advance(LEASE_S - 1)
    with lease.held():
        clock.advance(BEAT_S)
    with pytest.raises(OpeningRefusedError):
        Lease(tmp_path, clock, "two")


def test_of_eight_that_race_exactly_one_drives(tmp_path: Path) -> None:
    clock, start = FakeClock(), threading.Barrier(8)
    got: list[str] = []
    refused: list[str] = []
    kept: list[Lease] = []

    def drive(token: str) -> None:
        start.wait()
        try:
            kept.append(Lease(tmp_path, clock, token))
            got.append(token)
        except OpeningRefusedError as error:
            refused.append(error.reason)

    threads = [threading.Thread(target=drive, args=(f"driver{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), refused) == (1, ["lease_held"] * 7)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"token": "../x", "until": "2030-01-01T00:00:00+00:00"}'])
def test_a_lease_that_cannot_be_read_is_nobodys(tmp_path: Path, content: str) -> None:
    (tmp_path / "lease.json").write_text(content)
    Lease(tmp_path, FakeClock(), "one").release()


@pytest.mark.parametrize("name", ["lease.lock", "lease.json", "one.alive"])
def test_links_in_their_places_are_refused_and_their_targets_untouched(tmp_path: Path, name: str) -> None:
    target = tmp_path.parent / f"{tmp_path.name}-target"
    target.write_text("mine")
    (tmp_path / name).symlink_to(target)
    with pytest.raises(OpeningRefusedError) as caught:
        Lease(tmp_path, FakeClock(), "one")
    assert caught.value.reason == "setup_rejected"
    assert target.read_text() == "mine"


def test_a_lease_that_cannot_be_renewed_is_told_and_one_whose_lock_is_gone_is_nobodys(tmp_path: Path) -> None:
    clock = FakeClock()
    lease = Lease(tmp_path, clock, "one")
    clock.advance(BEAT_S + 1)

    with small_files(9):  # the disk takes a part of it
        with pytest.raises(StorageError, match="the lease cannot be written: File too large"), lease.held():
            pass
        lease.beat()
    with lease.held():
        pass
    (tmp_path / "one.alive").unlink()
    Lease(tmp_path, clock, "two").release()
    lease.release()


def test_who_is_at_an_episode_is_told_without_a_trace(tmp_path: Path) -> None:
    clock = FakeClock()
    assert leased(tmp_path, clock.now()) == "nobody"
    lease = Lease(tmp_path, clock, "one")
    before = sorted(tmp_path.iterdir())
    assert leased(tmp_path, clock.now()) == "driven"
    clock.advance(LEASE_S + 1)
    assert leased(tmp_path, clock.now()) == "silent"
    with pytest.raises(OpeningRefusedError):
        Lease(tmp_path, FakeClock(), "two")  # it is held as before
    die(lease)
    assert leased(tmp_path, clock.now()) == "gone"
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "lease.json").write_text("{")
    assert leased(tmp_path, clock.now()) == "unreadable"
    (tmp_path / "lease.json").unlink()
    (tmp_path / "lease.json").symlink_to(tmp_path / "lease.lock")
    assert leased(tmp_path, clock.now()) == "unreadable"


def test_nobody_is_at_an_episode_that_was_given_back(tmp_path: Path) -> None:
    clock = FakeClock()
    Lease(tmp_path, clock, "one").release()
    assert leased(tmp_path, clock.now()) == "nobody"


def test_a_lease_that_is_no_regular_file_cannot_be_read_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lease.json")
    assert leased(tmp_path, FakeClock().now()) == "unreadable"
