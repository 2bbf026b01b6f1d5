"""An attempt that failed after it was billed is not free: its usage is in the ledger, once, whoever goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest
from driving import REPLIES, Driving, Killed, kill_when
from toy import ReplyActor, Stage

from harness.errors import ProviderCategory, ProviderError
from harness.journal import Journal
from harness.ports import TurnContext
from harness.schema.message import ModelRequest, Reply, Usage
from harness.schema.price import Price
from harness.schema.record import OpReceipt, OpUnknown, UsageRow
from harness.schema.run import AttemptRow
from harness.schema.spending import Entry

BILLED = Usage(input_tokens=30, output_tokens=4)
PRICE = Price(input=Decimal(2), output=Decimal(10), source="test")


def failure(
    category: ProviderCategory, usage: Usage | None = BILLED, *, sent: bool = True, delivered: bool = False
) -> ProviderError:
    """A failure whose provider told what it billed."""
    partial = None if usage is None else Reply(text="Half", finish=None, usage=usage)
    status = None if category == "connection_lost" else 200
    error = ProviderError(category, "made up", retryable=True, http_status=status, partial=partial)
    error.sent, error.delivered = sent, delivered
    return error


@dataclass
class Account:
    """A quota that lets everything through, and remembers what was settled."""

    settled: list[tuple[str, Usage | None, bool]] = field(default_factory=list)

    def admits(self) -> bool:
        return True

    def before(self, _: str) -> Entry | None:
        return None

    def reserve(self, _: str, __: ModelRequest, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        return seconds > 0 and not stopped()

    def settle(self, attempt: str, usage: Usage | None, *, billed: bool) -> None:
        self.settled.append((attempt, usage, billed))


def failing(*failures: ProviderError) -> ReplyActor:
    """A live model that fails in turn, and then answers."""
    waiting = list(failures)

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        if waiting:
            raise waiting.pop(0)
        return REPLIES[context.turn - 1]

    return ReplyActor([reply] * 9)


def told(rows: tuple[AttemptRow, ...]) -> list[tuple[str, int, str, Usage | None, str | None]]:
    return [(row.operation, row.attempt, row.status, row.usage, row.error) for row in rows]


def test_what_a_failed_attempt_was_billed_is_in_its_row_its_cost_and_every_sum(stage: Stage) -> None:
    journal, account = Journal(), Account()
    played = stage.play(actor=failing(failure("server_error")), journal=journal, quota=account, price=PRICE)
    first, second = played.result.log.attempts[:2]
    assert (first.status, first.usage, first.cost_micro_usd) == ("failed", BILLED, Decimal(100))
    assert (second.status, second.attempt) == ("completed", 2)
    assert account.settled[0] == ("turn-1/main:attempt:1", BILLED, True)
    assert journal.state.usage[0].usage == BILLED
    counted = [row.usage for row in journal.state.usage if row.usage is not None]
    assert journal.state.total_tokens.value == sum(
        (one.input_tokens or 0) + (one.output_tokens or 0) for one in counted
    )


def test_the_limit_on_tokens_counts_what_was_billed_in_vain(stage: Stage) -> None:
    played = stage.play(actor=failing(failure("server_error")), change={"limits": {"total_tokens": 33}})
    assert played.receipt.outcome.reason == "total_tokens"


def test_what_was_not_told_stays_unknown_and_what_was_not_sent_costs_nothing(stage: Stage) -> None:
    lost, unsent = failure("connection_lost", None), failure("connection_lost", sent=False)
    rows = stage.play(actor=failing(lost, unsent), price=PRICE).result.log.attempts
    assert [(row.status, row.usage, row.cost_micro_usd) for row in rows[:2]] == [
        ("unknown", None, None),
        ("not_sent", None, None),
    ]


def test_a_refusal_that_tells_what_it_bills_is_billed_and_another_one_costs_nothing(stage: Stage) -> None:
    account = Account()
    failures = (failure("rate_limited"), failure("rate_limited", None))
    rows = stage.play(actor=failing(*failures), quota=account, price=PRICE).result.log.attempts
    assert [row.cost_micro_usd for row in rows[:2]] == [Decimal(100), Decimal(0)]
    assert [billed for _, _, billed in account.settled[:2]] == [True, False]


def test_a_broken_stream_that_was_counted_is_billed_and_waits_for_a_decision(stage: Stage) -> None:
    played = stage.play(actor=failing(failure("connection_lost", delivered=True)), price=PRICE)
    (row,) = played.result.log.attempts
    assert (row.status, row.error, row.usage, row.cost_micro_usd) == ("unknown", "reply_cut_off", BILLED, Decimal(100))
    assert played.receipt.outcome.reason == "reconciliation_required"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("kind", ["op_receipt", "usage", "turn_committed", "closed"])
def test_whoever_goes_on_after_a_kill_enters_the_same_bill(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, *, after: bool
) -> None:
    undisturbed = Driving(stage, tmp_path / "undisturbed").drive(actor=failing(failure("server_error")))
    driving = Driving(stage, tmp_path / "killed")
    operation = "turn-1/main" if kind == "op_receipt" else None
    with monkeypatch.context() as patch:
        kill_when(patch, kind, operation=operation, after=after)
        with pytest.raises(Killed):
            driving.drive(actor=failing(failure("server_error")))
    was_failed = any(isinstance(one.payload, OpReceipt) and one.payload.status == "failed" for one in driving.records())
    played = driving.drive(actor=failing())
    assert played.receipt == undisturbed.receipt
    rows = told(played.result.log.attempts)
    if was_failed:
        assert rows == told(undisturbed.result.log.attempts)
    else:
        # nobody ever knew how that attempt ended
        assert rows[0] == ("turn-1/main", 1, "unknown", None, "interrupted")
    entered = [one.payload.row for one in driving.records() if isinstance(one.payload, UsageRow)]
    assert len(entered) == len(set(entered))


def test_a_stream_that_broke_off_is_billed_the_same_after_a_restart(stage: Stage, tmp_path: Path) -> None:
    driving = Driving(stage, tmp_path / "one")
    first = driving.drive(actor=failing(failure("connection_lost", delivered=True)))
    again = driving.drive(actor=failing())
    assert told(first.result.log.attempts) == told(again.result.log.attempts)
    assert first.result.log.attempts[0].usage == BILLED
    assert again.receipt.outcome.reason == "reconciliation_required"


def test_a_bill_that_is_not_kept_is_refused(stage: Stage, tmp_path: Path) -> None:
    driving = Driving(stage, tmp_path / "one")
    driving.drive(actor=failing(failure("connection_lost", delivered=True)))
    (unknown,) = [one.payload for one in driving.records() if isinstance(one.payload, OpUnknown)]
    assert unknown.spool is not None
    (driving.folder / "spool" / unknown.spool.removeprefix("sha256:")).unlink()
    played = driving.drive(actor=failing())
    assert played.receipt.outcome.reason == "journal_integrity_mismatch"
