"""What was put comes back whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.journal.spool import DiskSpool, MemorySpool, Spool, kept_attempts
from harness.schema.base import digest_bytes

MakeSpool = Callable[[Path], Spool]
SPOOLS = pytest.mark.parametrize("make", [lambda _: MemorySpool(), lambda place: DiskSpool(place / "spool")])


@SPOOLS
def test_bytes_come_back_by_their_digest_until_the_purge(make: MakeSpool, tmp_path: Path) -> None:
    spool = make(tmp_path)
    name = spool.put(b"text")
    assert (name, spool.put(b"text")) == (digest_bytes(b"text"), name)
    assert spool.get(name) == b"text"
    assert spool.put_reply("turn-1/main", 1, b"reply") == digest_bytes(b"reply")
    assert (spool.reply("turn-1/main", 1), spool.reply("turn-1/main", 2)) == (b"reply", None)
    spool.purge()
    spool.purge()
    assert spool.reply("turn-1/main", 1) is None
    for absent in (name, digest_bytes(b"never")):
        with pytest.raises(KeyError):
            spool.get(absent)
    assert spool.get(spool.put(b"later")) == b"later"


def test_files_are_private_and_gone_after_the_purge(tmp_path: Path) -> None:
    spool = DiskSpool(tmp_path / "spool")
    spool.put(b"canary")
    spool.put_reply("turn-1/main", 1, b"canary")
    files = list((tmp_path / "spool").iterdir())
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert (tmp_path / "spool").stat().st_mode & 0o777 == 0o700
    assert "canary" not in repr(spool)
    spool.purge()
    assert list(tmp_path.iterdir()) == []


@given(data=st.binary(max_size=200), cut=st.integers(min_value=0))
def test_half_a_reply_is_none(data: bytes, cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    spool = DiskSpool(tmp_path_factory.mktemp("spool") / "spool", sync=False)
    spool.put_reply("turn-1/main", 1, data)
    (path,) = (spool_file for spool_file in spool._folder.iterdir())
    whole = path.read_bytes()
    path.write_bytes(whole[: cut % (len(whole) + 1)])
    assert spool.reply("turn-1/main", 1) == (data if path.read_bytes() == whole else None)


def test_the_attempts_that_an_answer_is_kept_of_are_told_by_the_names_of_their_files(tmp_path: Path) -> None:
    assert kept_attempts(tmp_path / "spool") == frozenset()
    spool = DiskSpool(tmp_path / "spool", sync=False)
    spool.put(b"a text")
    for operation, attempt in (("turn-1/main", 1), ("turn-12/main", 3)):
        spool.put_reply(operation, attempt, b"paid")
    (tmp_path / "spool" / ".turn-2.main.1.reply.part").touch()
    assert kept_attempts(tmp_path / "spool") == {("turn-1/main", 1), ("turn-12/main", 3)}


def test_what_was_changed_on_disk_is_not_what_was_put(tmp_path: Path) -> None:
    spool = DiskSpool(tmp_path / "spool")
    name = spool.put(b"one")
    (tmp_path / "spool" / name.removeprefix("sha256:")).write_bytes(b"two")
    with pytest.raises(KeyError):
        spool.get(name)
    with pytest.raises(KeyError):
        spool.get("sha256:../../etc/hostname")
