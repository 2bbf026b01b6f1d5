"""A run is verified by its folder; each fault is a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest
from rewritten import Payload, rewrite

from harness.journal import DiskSpool, Journal, JournalFile
from harness.schema.record import OpPlanned, OpStarted


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    folder: Path


@pytest.fixture
def finished(harness: Harness, world: World) -> Path:
    """The folder of a run that is done."""
    assert harness("run", "--out", "out")[0] == 0
    return Path("out")


def test_a_run_that_nobody_touched_ends_with_0(harness: Harness, finished: Path) -> None:
    code, out, err = harness("verify", "out")
    assert (code, err) == (0, "")
    assert out.startswith("out: is as it was written, ")


def test_a_changed_receipt_ends_with_1_and_is_named(harness: Harness, finished: Path) -> None:
    path = finished / "receipts.jsonl"
    path.write_text(path.read_text().replace('"pass"', '"fail"', 1))
    code, out, _ = harness("verify", "out")
    assert code == 1
    assert out.startswith("out: was changed\n  receipts.jsonl:1: was changed after the run ended (pack/a, ")
    code, out, _ = harness("verify", "out", "--format", "json")
    (run,) = json.loads(out)["runs"]
    assert (code, run["state"], run["flaws"][0]["line"]) == (1, "complete", 1)
    code, out, _ = harness("verify", "out", "./out/../out", "--format", "jsonl")
    assert [json.loads(row)["run"] for row in out.splitlines()] == ["out", "out/../out"]


@pytest.mark.parametrize("state", ["running", "interrupted"])
def test_a_run_that_did_not_end_ends_with_2(harness: Harness, finished: Path, state: str) -> None:
    from harness.receipt.manifest_text import manifest_text, sealed
    from harness.schema.run import Manifest

    path = finished / "manifest.json"
    manifest = Manifest.model_validate_json(path.read_bytes())
    path.write_bytes(manifest_text(sealed(manifest.model_copy(update={"state": state}))))
    code, out, _ = harness("verify", "out")
    assert code == 2
    assert "what is there is whole" in out


def test_a_folder_without_a_run_is_one_line_and_4(harness: Harness, tmp_path: Path) -> None:
    code, out, err = harness("verify", str(tmp_path))
    assert (code, out) == (4, "")
    assert err.endswith("holds no run (manifest.json is not there)\n")


def _torn(path: Path) -> None:
    path.write_bytes(b'{"key":"a","oper')


def _garbage(path: Path) -> None:
    path.write_bytes(b"\n\xff\xfe\n")


def _folder(path: Path) -> None:
    path.mkdir()


ADDED_TO = ("late.jsonl", "spending.jsonl", "superseded.jsonl")


@pytest.mark.parametrize("name", ADDED_TO)
def test_a_torn_last_line_is_told_and_is_no_flaw(harness: Harness, finished: Path, name: str) -> None:
    _torn(finished / name)
    code, out, err = harness("verify", "out")
    assert (code, err) == (0, "")
    assert out.splitlines()[1] == f"  {name}:1: its end was never written, so it does not count"
    (run,) = json.loads(harness("verify", "out", "--format", "json")[1])["runs"]
    assert run["torn"] == [{"file": name, "line": 1}]


@pytest.mark.parametrize("name", [*ADDED_TO, "outputs/aa.txt", "recordings/a/b/c.jsonl"])
@pytest.mark.parametrize("damage", [_garbage, _folder], ids=["garbage", "a folder"])
def test_other_damage_is_named_by_its_file_and_ends_with_1(
    harness: Harness, finished: Path, name: str, damage: Callable[[Path], None]
) -> None:
    (finished / name).parent.mkdir(parents=True, exist_ok=True)
    damage(finished / name)
    code, out, err = harness("verify", "out")
    assert (code, err) == (1, "")
    assert f"  {name}" in out


@pytest.mark.parametrize("damage", [_torn, _garbage, _folder], ids=["torn", "garbage", "a folder"])
def test_what_only_adds_to_a_run_keeps_nobody_from_reading_it_or_going_on(
    harness: Harness, finished: Path, damage: Callable[[Path], None]
) -> None:
    damage(finished / "late.jsonl")
    for words in (("report", "out"), ("show", "out/1"), ("run", "--resume", "out")):
        code, _, err = harness(*words)
        assert code == 0, words
        told = [line for line in err.splitlines() if "late.jsonl" in line]
        assert bool(told) == (damage is not _torn), words
        assert all(line.endswith("; left out") for line in told)


@pytest.mark.parametrize("damage", [_garbage, _folder], ids=["garbage", "a folder"])
def test_where_money_could_be_spent_twice_nobody_goes_on(
    harness: Harness, finished: Path, damage: Callable[[Path], None]
) -> None:
    damage(finished / "spending.jsonl")
    code, _, err = harness("run", "--resume", "out")
    assert code == 4
    assert any("out/spending.jsonl" in line for line in err.splitlines())
    assert harness("report", "out")[0] == 0


def test_a_log_that_lost_a_line_is_told_and_no_bug(harness: Harness, finished: Path) -> None:
    path = finished / "run.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    for words in (("report", "out"), ("run", "--resume", "out")):
        code, _, err = harness(*words)
        assert (code, err.count("\n")) == (4, 1), words
        assert "out/run.jsonl: has 1 line for 2 receipts" in err


def test_damaged_journals_and_texts_of_unfinished_episodes_are_named(harness: Harness, finished: Path) -> None:
    place = finished / "episodes" / "abc"
    (place / "spool").mkdir(parents=True)
    (place / "journal.jsonl").write_bytes(b"nothing\n")
    (place / "spool" / "turn-1.main.1.reply").write_bytes(b"harness-reply 1 9 x\nshort")
    (place / "spool" / ("0" * 64)).write_bytes(b"another")
    code, out, _ = harness("verify", "out")
    assert code == 1
    assert "  episodes/abc/journal.jsonl: line 1 of its journal is not what was written (sha256:" in out
    assert out.count("is not what was kept under that name") == 2


def test_a_journal_that_tells_of_fewer_calls_than_were_answered_is_named(harness: Harness, finished: Path) -> None:
    place = finished / "episodes" / "abc"
    place.mkdir(parents=True)
    reply = DiskSpool(place / "spool").put_reply("turn-1/main", 1, b"paid")
    file = JournalFile(place / "journal.jsonl")
    journal = Journal(keep=file.write)
    journal.append(OpPlanned(operation="turn-1/main", purpose="main", digest=reply))
    code, out, _ = harness("verify", "out")
    assert code == 1
    assert "  episodes/abc/journal.jsonl: was cut: a model was asked more often than it tells" in out
    journal.append(OpStarted(operation="turn-1/main", attempt=1))
    file.close()
    assert "journal.jsonl" not in harness("verify", "out")[1]


@pytest.fixture
def unfinished(finished: Path) -> Path:
    """The folder of an episode of the run that is not over, as its driver left it when it was killed."""
    from harness.clock import SystemClock
    from harness.episode.durable import DurableEpisode, DurablePlace
    from harness.schema.record import FixtureBound, TurnOpened

    place, root = finished / "episodes" / "abc", finished.parent / "workspace"
    root.mkdir()
    (root / "file").write_bytes(b"content")
    episode = DurableEpisode(DurablePlace(place, "one"), SystemClock())
    episode.settle_in("workspace")
    episode.keep_state(root, STATE)
    episode.spool.put(b"a text")
    episode.journal.append(FixtureBound(fingerprint=STATE))
    episode.journal.append(TurnOpened(turn=1))
    episode.close()
    return place


STATE = "sha256:" + "5" * 64
TAR = f"states/{'5' * 64}.tar"


def test_an_episode_that_is_not_over_and_that_nobody_touched_is_whole(harness: Harness, unfinished: Path) -> None:
    code, out, _ = harness("verify", "out")
    assert (code, out.count("\n")) == (0, 1)


def _grown(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"more")


def _opened(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o044)


def _linked(path: Path) -> None:
    path.rename(path.with_name(".elsewhere"))
    path.symlink_to(path.with_name(".elsewhere").absolute())


@pytest.mark.parametrize(
    ("name", "damage", "told"),
    [
        (TAR, _grown, "is not what was kept under that name"),
        (TAR, _opened, "is open to others (mode 0644); close it: chmod go-rwx"),
        ("states", _opened, "is open to others (mode 0744); close it: chmod go-rwx"),
        ("spool", _opened, "is open to others (mode 0744); close it: chmod go-rwx"),
        ("journal.jsonl", _opened, "is open to others (mode 0644); close it: chmod go-rwx"),
        ("place.json", _opened, "is open to others (mode 0644); close it: chmod go-rwx"),
        ("place.json", _linked, "is no file and no folder"),
        (".", _opened, "is open to others (mode 0744); close it: chmod go-rwx"),
    ],
)
def test_what_is_kept_of_it_is_private_and_as_it_was_written(
    harness: Harness, unfinished: Path, name: str, damage: Callable[[Path], None], told: str
) -> None:
    damage(unfinished / name)
    code, out, _ = harness("verify", "out")
    where = "episodes/abc" if name == "." else f"episodes/abc/{name}"
    assert (code, out) == (1, f"out: was changed\n  {where}: {told}\n")


def test_a_state_whose_digest_a_kill_kept_from_being_told_is_read_through(harness: Harness, unfinished: Path) -> None:
    (digest,) = (unfinished / "states").glob("*.digest")
    for text in ("sha256:55", ""):
        digest.write_text(text)
        assert harness("verify", "out")[0] == 0
    digest.unlink()
    assert harness("verify", "out")[0] == 0
    (unfinished / TAR).write_bytes((unfinished / TAR).read_bytes()[:700])
    code, out, _ = harness("verify", "out")
    assert (code, f"  episodes/abc/{TAR}: is no snapshot of a workspace\n" in out) == (1, True)


def test_who_is_at_it_is_told_and_is_no_flaw(harness: Harness, unfinished: Path) -> None:
    from harness.clock import SystemClock
    from harness.journal import Lease

    lease = Lease(unfinished, SystemClock(), "two")
    code, out, _ = harness("verify", "out")
    assert (code, out.splitlines()[1:]) == (0, ["  episodes/abc/lease.json: another process plays the episode now"])
    kept = {path: path.read_bytes() for path in (unfinished / "lease.json", unfinished / "two.alive")}
    lease.release()
    for path, data in kept.items():
        path.write_bytes(data)
        path.chmod(0o600)
    code, out, _ = harness("verify", "out", "--format", "json")
    (run,) = json.loads(out)["runs"]
    gone = "the process that played the episode is gone; whoever goes on with the run takes it over"
    assert (code, run["flaws"]) == (0, [])
    assert run["told"] == [{"file": "episodes/abc/lease.json", "problem": gone}]


def test_an_episode_that_another_version_wrote_was_not_changed(harness: Harness, unfinished: Path) -> None:
    def change(payload: Payload) -> None:
        payload["weight"] = 3

    rewrite(unfinished / "journal.jsonl", 2, change)
    code, out, _ = harness("verify", "out")
    told = "line 3 of its journal (turn_opened) has 'weight', which this version of harness does not know"
    assert (code, out.splitlines()[1:]) == (0, [f"  episodes/abc/journal.jsonl: {told}"])
