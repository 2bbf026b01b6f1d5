"""One writer a run folder: who is refused learns which process has it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.receipt import locking, sole


def test_who_writes_there_is_named_by_its_process(tmp_path: Path) -> None:
    held = sole(tmp_path)
    try:
        with pytest.raises(StoreError, match=rf"another run is writing here \(process {os.getpid()}\); wait"):
            sole(tmp_path)
    finally:
        os.close(held)
    os.close(sole(tmp_path))


@pytest.mark.parametrize("text", [None, "", "1: FLOCK\n", "1: FLOCK ADVISORY WRITE 1 00:00:{inode} 0 EOF\n"])
def test_where_the_system_does_not_tell_nobody_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    run, told = tmp_path / "run", tmp_path / "proc" / "locks"
    run.mkdir()
    (told.parent / "1" / "fd").mkdir(parents=True)
    if text is not None:
        told.write_text(text.replace("{inode}", str(run.stat().st_ino)))
    monkeypatch.setattr(locking, "_LOCKS", told)
    held = sole(run)
    try:
        with pytest.raises(StoreError, match="another run is writing here; wait for its end"):
            sole(run)
    finally:
        os.close(held)
