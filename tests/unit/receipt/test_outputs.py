"""Large final texts beside a run: private, whole or not there, and never with a secret."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from numbered import case

from harness.receipt import keep_output
from harness.redaction import SecretGuard

DATA = b"a long answer\n" * 9


@case(89)
def test_a_text_is_kept_by_its_digest_for_its_owner_only(tmp_path: Path) -> None:
    place = keep_output(tmp_path, DATA, SecretGuard())
    assert place == f"outputs/{sha256(DATA).hexdigest()[:16]}.txt"
    path = tmp_path / place
    assert path.read_bytes() == DATA
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert keep_output(tmp_path, DATA, SecretGuard()) == place
    assert list(path.parent.iterdir()) == [path]


def test_a_text_with_a_secret_is_not_kept(tmp_path: Path) -> None:
    assert keep_output(tmp_path, DATA + b"sk-canary-0123456789", SecretGuard(["sk-canary-0123456789"])) is None
    assert list(tmp_path.iterdir()) == []


def test_what_the_file_system_refuses_is_not_kept(tmp_path: Path) -> None:
    assert keep_output(tmp_path / "missing", DATA, SecretGuard()) is None
    (tmp_path / "outputs").touch()
    assert keep_output(tmp_path, DATA, SecretGuard()) is None


@pytest.mark.parametrize("name", [f".{sha256(DATA).hexdigest()[:16]}.txt.part"])
def test_a_link_that_lies_there_is_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "outputs").mkdir()
    target = tmp_path / "target"
    target.touch()
    (tmp_path / "outputs" / name).symlink_to(target)
    kept = keep_output(tmp_path, DATA, SecretGuard())
    assert kept is not None
    assert ((tmp_path / kept).read_bytes(), target.read_bytes()) == (DATA, b"")
