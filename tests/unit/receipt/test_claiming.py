"""A folder in which a run was killed before it began can be taken by another one; nobody else's files are touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from harness.errors import StoreError
from harness.receipt import RunStore, read_run, was_killed_at_once
from harness.redaction import SecretGuard
from harness.schema.run import Manifest

P = ParamSpec("P")
R = TypeVar("R")
PRIVATE = {"asked.json": b"{}\n"}


def begun(folder: Path, manifest: Manifest) -> None:
    RunStore(folder, manifest, SecretGuard(), private=PRIVATE).close()


def test_wherever_a_beginning_is_killed_the_folder_can_be_taken_or_gone_on_with(
    tmp_path: Path, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the folder holds before and after each thing that is done to it is what a kill there leaves."""
    run, left = tmp_path / "run", list[Path]()

    def looked_at(do: Callable[P, R]) -> Callable[P, R]:
        def done(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return do(*args, **kwargs)
            finally:
                if run.exists():
                    left.append(tmp_path / f"left-{len(left)}")
                    shutil.copytree(run, left[-1])

        return done

    with monkeypatch.context() as patch:
        for place, name in ((os, "open"), (os, "write"), (os, "fsync"), (Path, "replace"), (Path, "mkdir")):
            patch.setattr(place, name, looked_at(getattr(place, name)))
        begun(run, manifest)
    holds = {frozenset(path.name for path in folder.iterdir()) for folder in left}
    assert len(holds) > 5, holds
    for folder in left:
        if (folder / "manifest.json").exists():
            assert (folder / "asked.json").read_bytes() == PRIVATE["asked.json"]
            assert read_run(folder).receipts == ()
        else:
            assert was_killed_at_once(folder, PRIVATE) == bool(list(folder.iterdir()))
            begun(folder, manifest)
            assert {path.name for path in folder.iterdir()} == {"manifest.json", "asked.json", "episodes.part.jsonl"}


@pytest.mark.parametrize(
    "more", [("episodes.part.jsonl", b'{"position":0}\n'), ("notes.txt", b""), ("receipts.jsonl", b"")]
)
def test_what_may_be_evidence_or_somebody_elses_is_left_alone(
    tmp_path: Path, manifest: Manifest, more: tuple[str, bytes]
) -> None:
    (tmp_path / "asked.json").write_bytes(b"")
    (tmp_path / more[0]).write_bytes(more[1])
    assert not was_killed_at_once(tmp_path, PRIVATE)
    with pytest.raises(StoreError, match="is not empty and holds no run"):
        begun(tmp_path, manifest)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["asked.json", more[0]])


def test_a_link_in_the_place_of_the_part_file_is_left_alone(tmp_path: Path, manifest: Manifest) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "elsewhere").touch()
    (tmp_path / "run/episodes.part.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is not empty and holds no run"):
        begun(tmp_path / "run", manifest)


def test_what_a_run_that_just_began_holds_is_not_taken_from_it(tmp_path: Path, manifest: Manifest) -> None:
    run = RunStore(tmp_path / "run", manifest, SecretGuard(), private=PRIVATE)
    (tmp_path / "run/manifest.json").unlink()  # as another one saw it before
    with pytest.raises(StoreError, match="another run is writing here"):
        begun(tmp_path / "run", manifest)
    run.close()


def test_the_private_file_is_its_owners_only_and_goes_with_a_run_that_is_taken_back(
    tmp_path: Path, manifest: Manifest
) -> None:
    run = RunStore(tmp_path / "run", manifest, SecretGuard(), private=PRIVATE)
    assert (tmp_path / "run/asked.json").stat().st_mode & 0o777 == 0o600
    assert run.discard()
    run.close()
    assert list(tmp_path.iterdir()) == []


def test_no_folder_is_no_beginning(tmp_path: Path) -> None:
    assert not was_killed_at_once(tmp_path / "nowhere")
    assert not was_killed_at_once(tmp_path)
