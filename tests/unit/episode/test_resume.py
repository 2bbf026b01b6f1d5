"""A killed episode is gone on with: the same receipt, and nothing asked, paid or done twice."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypedDict, TypeVar, Unpack

import pytest
from driving import REPLIES, Driving, Killed, Provider, told, writes
from numbered import case
from toy import ReplyActor, Stage, answer, called, said

from harness.episode.durable import DurableEpisode, DurablePlace
from harness.errors import StorageError
from harness.journal import DiskSpool, JournalFile, Lease
from harness.journal.lease import LEASE_S
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply
from harness.schema.process import Completed
from harness.schema.record import Record, UsageRow
from harness.workspace import Workspace, save

P = ParamSpec("P")
R = TypeVar("R")


@pytest.fixture
def driving(stage: Stage, tmp_path: Path) -> Driving:
    return Driving(stage, tmp_path / "episode")


#: Everything that is put on disk while an episode runs.
WRITES = ((JournalFile, "write"), (DiskSpool, "put"), (DiskSpool, "put_reply"), (DurableEpisode, "keep_state"))


#: Two calls of a control plane are among them, and two that only look.
FOUR_TURNS = (
    REPLIES[0],
    REPLIES[1],
    said("Looking again.", called("ls", id_="3")),
    said("Reading.", called("cat notes/a.json", id_="4")),
)


def kill_at(monkeypatch: pytest.MonkeyPatch, number: int, *, after: bool) -> list[str]:
    """The next driver is killed before or after its ``number``-th write (from 1). Returns what was written."""
    written: list[str] = []

    def killing(write: Callable[P, R], name: str) -> Callable[P, R]:
        def one(*args: P.args, **kwargs: P.kwargs) -> R:
            written.append(name)
            at = len(written)
            if at == number and not after:
                raise Killed
            made = write(*args, **kwargs)
            if at == number:
                raise Killed
            return made

        return one

    for kind, name in WRITES:
        monkeypatch.setattr(kind, name, killing(getattr(kind, name), name))
    return written


def test_an_undisturbed_episode_leaves_its_receipt_and_no_text(driving: Driving) -> None:
    played = driving.drive()
    assert played.ending == ("completed/scenario_satisfied", "pass", None)
    assert driving.provider.asked == [1, 2, 3]
    assert played.result.log.recovery == ()
    left = [path for path in driving.folder.rglob("*") if path.is_file()]
    assert [path for path in left if b"Reading." in path.read_bytes() or b'"a": 1' in path.read_bytes()] == []
    assert driving.folder.stat().st_mode & 0o777 == 0o700


def test_nobody_else_may_look_at_it_or_beside_it_whatever_the_umask(stage: Stage, tmp_path: Path) -> None:
    driving = Driving(stage, tmp_path / "run" / "episodes" / "one")
    before = os.umask(0)
    try:
        driving.drive()
    finally:
        os.umask(before)
    made = [tmp_path / "run", *(tmp_path / "run").rglob("*")]
    assert [path for path in made if path.stat().st_mode & 0o077] == []


@case(4, 5)
def test_a_closed_episode_is_read_and_nothing_is_asked(driving: Driving) -> None:
    first = driving.drive()
    again = driving.drive(change={"prompt": {"system": "Be long."}})
    assert again.receipt == first.receipt
    assert (first.result.log.recovery_class, again.result.log.recovery_class) == ("complete", "complete")
    bill = [(row.operation, row.status, row.usage) for row in first.result.log.attempts]
    assert [(row.operation, row.status, row.usage) for row in again.result.log.attempts] == bill
    assert (driving.provider.asked, again.plane) == ([1, 2, 3], [])


@pytest.mark.slow
@case(179)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_any_write_it_ends_with_the_same_receipt(
    after: bool, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = Driving(stage, tmp_path / "undisturbed")
    undisturbed.provider.replies = FOUR_TURNS
    with monkeypatch.context() as patch:
        writes_of = kill_at(patch, 0, after=after)
        receipt = undisturbed.drive().receipt
    assert undisturbed.provider.asked == [1, 2, 3, 4]
    assert [name for _, name in WRITES if writes_of.count(name) < 2] == []
    for number in range(1, len(writes_of) + 1):
        driving = Driving(stage, tmp_path / f"killed-{number}")
        driving.provider.replies = FOUR_TURNS
        with monkeypatch.context() as patch:
            kill_at(patch, number, after=after)
            with pytest.raises(Killed):
                driving.drive()
        resumed = driving.drive()
        place = (number, writes_of[number - 1])
        assert resumed.receipt == receipt, place
        flags = resumed.result.log.recovery
        assert set(driving.drive().result.log.recovery) == set(flags), place
        assert len(driving.provider.asked) - len(FOUR_TURNS) <= ("duplicate_risk" in flags), place
        if "duplicate_risk" not in flags:
            assert told(driving) == told(undisturbed), place


@pytest.fixture
def killed(driving: Driving, monkeypatch: pytest.MonkeyPatch) -> Driving:
    """An episode whose first driver was killed in its second turn."""
    with monkeypatch.context() as patch:
        kill_at(patch, 40, after=True)
        with pytest.raises(Killed):
            driving.drive()
    assert driving.provider.asked == [1, 2]
    return driving


class DriveOptions(TypedDict, total=False):
    """What a driver may be given."""

    change: dict[str, JsonValue]


def refused(driving: Driving, reason: str, detail: str | None = None, **drive: Unpack[DriveOptions]) -> None:
    """The next driver is refused for this reason: it asks nobody and leaves the journal as it is."""
    before = (driving.folder / "journal.jsonl").read_bytes()
    played = driving.drive(**drive)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail, played.receipt.verdict) == (f"rejected/{reason}", detail, "not_judged")
    assert (driving.folder / "journal.jsonl").read_bytes() == before
    assert driving.provider.asked == [1, 2]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        pytest.param({"prompt": {"system": "Be long."}}, "prompt", marks=case(6)),
        pytest.param({"tool": {"exec": {"about": "Run two commands."}}}, "tools", marks=case(7)),
        pytest.param({"policy": {"denied": ["other"]}}, "policy", marks=case(8)),
        ({"limits": {"model_turns": 5}}, "limits"),
    ],
)
def test_what_changed_since_is_refused_by_its_name(killed: Driving, change: dict[str, JsonValue], part: str) -> None:
    refused(killed, "definition_mismatch", part, change=change)
    assert killed.drive().receipt.verdict == "pass"


@case(9)
def test_a_driver_beside_a_living_one_is_refused_and_harms_it_not(killed: Driving, stage: Stage) -> None:
    lease = Lease(killed.folder, stage.clock, "living")
    refused(killed, "lease_held")
    lease.release()
    assert killed.drive().receipt.verdict == "pass"


@case(11)
def test_a_driver_that_lost_its_lease_appends_nothing(driving: Driving, stage: Stage) -> None:
    taken: list[Lease] = []

    def takes_over(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args != ("greet",) and not taken:
            stage.clock.advance(LEASE_S + 1)
            taken.append(Lease(driving.folder, stage.clock, "other"))
        return writes(workspace, args)

    played = driving.drive(says=takes_over, change={"limits": {"deadline_s": 900.0}})
    assert (played.receipt.outcome.name, played.receipt.verdict) == ("rejected/lease_lost", "not_judged")
    assert [record.payload.kind for record in driving.records()][-1] == "op_started"
    taken[0].release()


@case(14, 15)
def test_a_flipped_byte_is_refused_and_a_torn_line_is_not(killed: Driving) -> None:
    path = killed.folder / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"turn":1', b'"turn":2', 1))
    refused(killed, "journal_integrity_mismatch")
    path.write_bytes(whole + b'{"seq": 99, "payl')
    assert killed.drive().receipt.verdict == "pass"
    assert b'"payl"' not in path.read_bytes()


@case(16)
def test_another_format_is_refused_as_that(killed: Driving) -> None:
    path = killed.folder / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 99', 1))
    refused(killed, "journal_version_unsupported")


@case(17)
def test_a_kept_state_that_was_changed_is_refused(killed: Driving, tmp_path: Path) -> None:
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "file").write_text("x")
    for kept in (killed.folder / "states").iterdir():
        save(tmp_path / "strange", kept)
    refused(killed, "fixture_mismatch")
    for kept in (killed.folder / "states").iterdir():
        kept.unlink()
    refused(killed, "fixture_mismatch")


def test_texts_that_are_gone_are_refused(killed: Driving) -> None:
    for kept in (killed.folder / "spool").iterdir():
        kept.unlink()
    refused(killed, "journal_integrity_mismatch")


@case(19)
def test_time_that_passes_while_nobody_drives_counts(killed: Driving, stage: Stage) -> None:
    stage.clock.advance(61.0)
    refused(killed, "deadline_passed_before_start")
    assert killed.drive().result.log.recovery_class == "restart_required"


def test_what_a_refused_episode_had_paid_is_on_its_bill(killed: Driving, stage: Stage) -> None:
    paid = [record.payload for record in killed.records() if isinstance(record.payload, UsageRow)]
    stage.clock.advance(61.0)
    bill = killed.drive().result.log.attempts
    assert [(row.operation, row.attempt, row.status) for row in bill[: len(paid)]] == [
        (*_named(row), row.status) for row in paid
    ]
    assert [row.usage for row in bill[: len(paid)]] == [row.usage for row in paid]
    assert len(bill) == len(killed.provider.asked) == 2


def test_a_call_that_was_out_when_it_stopped_is_on_the_bill_as_unknown(driving: Driving, stage: Stage) -> None:
    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([_dies(driving.provider)]))
    stage.clock.advance(61.0)
    (row,) = driving.drive().result.log.attempts
    assert (row.operation, row.attempt, row.status, row.usage) == ("turn-1/main", 1, "unknown", None)


def _named(row: UsageRow) -> tuple[str, int]:
    operation, _, attempt = row.row.rpartition(":attempt:")
    return operation, int(attempt)


def test_where_somebody_took_its_place_it_waits_until_that_is_free(killed: Driving, tmp_path: Path) -> None:
    place = json.loads((killed.folder / "place.json").read_text())["workspace"]
    (tmp_path / place).mkdir(mode=0o700)
    refused(killed, "setup_rejected")
    (tmp_path / place).rmdir()
    assert killed.drive().receipt.verdict == "pass"


def test_a_call_of_a_plane_that_reaches_out_is_never_made_twice(driving: Driving, stage: Stage) -> None:
    made: list[tuple[str, ...]] = []

    def reaches_out(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        made.append(args)
        if args != ("greet",):
            raise Killed
        return answer(workspace, args)

    stage.confined = False
    with pytest.raises(Killed):
        driving.drive(says=reaches_out)
    for _ in range(2):
        played = driving.drive(says=reaches_out)
        assert (played.receipt.outcome.name, played.receipt.verdict) == ("suspended/reconciliation_required", "pending")
    assert len(made) == 2


def test_a_call_that_was_cut_off_twice_is_not_made_a_third_time(
    driving: Driving, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(Provider, "actor", lambda self: ReplyActor([_dies(self)]))
            with pytest.raises(Killed):
                driving.drive()
        assert len(driving.provider.asked) == number + 1
    played = driving.drive()
    assert (played.receipt.outcome.name, played.receipt.outcome.detail) == (
        "suspended/reconciliation_required",
        "model_call",
    )
    assert driving.provider.asked == [1, 1]


def _dies(provider: Provider) -> Callable[[ModelRequest, TurnContext], Reply]:
    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        provider.asked.append(context.turn)
        raise Killed

    return reply


def test_a_full_disk_ends_the_episode_and_not_the_run(driving: Driving, monkeypatch: pytest.MonkeyPatch) -> None:
    write = JournalFile.write

    def full(self: JournalFile, record: Record) -> None:
        if record.seq > 20:
            raise StorageError("the journal", OSError(28, "No space left on device"))
        write(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(JournalFile, "write", full)
        played = driving.drive()
    assert (played.receipt.outcome.name, played.receipt.cause) == ("failed/storage_error", "harness")
    assert played.result.log.problem == "the journal cannot be written: No space left on device"
    assert len(played.result.log.attempts) == 1
    assert driving.drive().receipt.verdict == "pass"
    assert driving.provider.asked == [1, 2, 3]


@pytest.mark.parametrize("turn", [1, 2, 3])
@pytest.mark.parametrize("when", ["asking", "running"])
def test_a_cancelled_episode_is_gone_on_with_where_it_was(driving: Driving, turn: int, when: str) -> None:
    flag = threading.Event()

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        driving.provider.asked.append(context.turn)
        if when == "asking" and context.turn == turn:
            flag.set()
        return REPLIES[context.turn - 1]

    def says(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if when == "running" and args != ("greet",):
            flag.set()
        return writes(workspace, args)

    place = DurablePlace(driving.folder, "cancelled", sync=False)
    stopped = driving.stage.play(actor=ReplyActor([reply] * 9), says=says, durable=place, cancelled=flag.is_set)
    assert (stopped.receipt.outcome.status, stopped.result.log.resumable) == ("cancelled", True)
    assert stopped.result.log.recovery_class == "resume_eligible"
    resumed = driving.drive()
    assert resumed.ending == ("completed/scenario_satisfied", "pass", None)
    assert driving.provider.asked == [1, 2, 3]
    assert "duplicate_risk" not in resumed.result.log.recovery
    assert resumed.receipt == Driving(driving.stage, driving.folder.with_name("undisturbed")).drive().receipt
