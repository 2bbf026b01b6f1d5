"""What earlier drivers did stays told, however often an episode is opened after them: nobody takes it for nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from driving import Driving, Killed, kill_when
from toy import Played, ReplyActor, Stage

from harness.episode.durable import DurableEpisode, DurablePlace
from harness.ports import TurnContext
from harness.schema.message import ModelRequest, Reply, Usage
from harness.schema.record import LateUsage

SEVEN = Usage(input_tokens=4, output_tokens=3)
Kill = Callable[[Driving, pytest.MonkeyPatch], None]


@pytest.fixture
def driving(stage: Stage, tmp_path: Path) -> Driving:
    return Driving(stage, tmp_path / "episode")


def die_waiting(driving: Driving, _: pytest.MonkeyPatch) -> None:
    """The driver is killed while it waits for the first reply."""

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        driving.provider.asked.append(context.turn)
        raise Killed

    with pytest.raises(Killed):
        driving.drive(actor=ReplyActor([reply]))


def die_with_a_reply(driving: Driving, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver is killed before a record tells of the second reply, which is kept."""
    die_before(monkeypatch, driving, "op_receipt", "turn-2/main")


def die_before(patch: pytest.MonkeyPatch, driving: Driving, kind: str, operation: str | None = None) -> None:
    with patch.context() as inner:
        kill_when(inner, kind, operation=operation, after=False)
        with pytest.raises(Killed):
            driving.drive()


def told(played: Played) -> tuple[tuple[str, ...], list[tuple[str, int, str, Usage | None]]]:
    log = played.result.log
    return log.recovery, [(row.operation, row.attempt, row.status, row.usage) for row in log.attempts]


@pytest.mark.parametrize(
    ("kill", "flags"),
    [(die_waiting, {"replayed_operations", "duplicate_risk"}), (die_with_a_reply, {"replayed_operations"})],
)
@pytest.mark.parametrize("again", [None, "closed", "acknowledged"])
def test_flags_stay_where_the_driver_that_ended_the_episode_is_killed_too(
    driving: Driving, monkeypatch: pytest.MonkeyPatch, kill: Kill, flags: set[str], again: str | None
) -> None:
    kill(driving, monkeypatch)
    if again is not None:
        die_before(monkeypatch, driving, again)
    first = driving.drive()
    after = driving.drive()
    assert set(first.result.log.recovery) == flags
    assert (set(after.result.log.recovery), told(after)[1]) == (flags, told(first)[1])
    assert after.receipt == first.receipt


def test_an_undisturbed_episode_that_is_opened_again_has_none(driving: Driving) -> None:
    driving.drive()
    assert driving.drive().result.log.recovery == ()


def test_one_that_pays_again_says_so_when_it_is_opened_again(driving: Driving) -> None:
    place = DurablePlace(driving.folder, "first", sync=False)
    driving.stage.play(actor=driving.provider.actor(), durable=place, pays_again=True)
    again = driving.stage.play(actor=driving.provider.actor(), durable=place, pays_again=True)
    assert again.result.log.recovery == ("duplicate_risk",)


@pytest.mark.parametrize("acknowledged", [False, True])
def test_late_usage_that_the_journal_learned_is_on_the_bill_and_flagged(
    driving: Driving, monkeypatch: pytest.MonkeyPatch, acknowledged: bool
) -> None:
    """The reply to a call that a kill cut off came in before its driver was killed as well."""
    die_waiting(driving, monkeypatch)
    die_before(monkeypatch, driving, "acknowledged")
    late = LateUsage(row="turn-1/main:attempt:1", usage=SEVEN)
    files = DurableEpisode(DurablePlace(driving.folder, "beside", sync=False), driving.stage.clock)
    files.journal.append_beside(late)
    files.close()
    played = driving.drive()
    if acknowledged:
        played = driving.drive()
    flags, rows = told(played)
    assert set(flags) == {"replayed_operations", "duplicate_risk", "late_usage"}
    assert rows[0] == ("turn-1/main", 1, "unknown", SEVEN)


def test_of_an_episode_that_cannot_be_gone_on_with_they_are_told_too(
    driving: Driving, monkeypatch: pytest.MonkeyPatch
) -> None:
    die_waiting(driving, monkeypatch)
    die_before(monkeypatch, driving, "closed")
    for path in (driving.folder / "spool").iterdir():
        path.unlink()
    played = driving.drive()
    assert played.receipt.outcome.name == "rejected/journal_integrity_mismatch"
    assert set(played.result.log.recovery) == {"replayed_operations", "duplicate_risk"}
