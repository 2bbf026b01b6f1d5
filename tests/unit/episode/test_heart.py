"""Leases are renewed while their drivers wait."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from harness.clock import FakeClock
from harness.episode.heart import Heart
from harness.journal import Lease


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_leases_are_renewed_until_they_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beaten: dict[Lease, threading.Event] = {}
    monkeypatch.setattr(Lease, "beat", lambda self: beaten[self].set())
    heart = Heart(0.001)
    leases = [Lease(_made(tmp_path / str(number)), FakeClock(), "driver") for number in range(2)]
    for lease in leases:
        beaten[lease] = threading.Event()
        heart.keep(lease)
    assert all(event.wait(30) for event in beaten.values())
    thread = next(one for one in threading.enumerate() if one.name == "heartbeat")
    for lease in leases:
        heart.drop(lease)
        heart.drop(lease)
        lease.release()
    thread.join(30)
    assert not thread.is_alive()
    beaten[leases[0]].clear()
    heart.keep(leases[0])
    assert beaten[leases[0]].wait(30)
    heart.drop(leases[0])
