"""An outage is tried again within bounds: in number, in time, and never once a reply had begun to arrive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from numbered import case
from toy import FEW_TOKENS, Played, ReplyActor, Stage, called, said

from harness.episode import DurablePlace
from harness.episode.retrying import PAUSE_MAX_S, backoff_s
from harness.errors import ProviderCategory, ProviderError
from harness.journal import Journal
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply
from harness.schema.record import OpNotSent, OpReceipt, OpStarted, OpUnknown, UsageRow

REPLIES = (said("", called("toy ask plane", id_="1")), said("", called("cat notes/a.json", id_="2")))


@dataclass
class Flaky:
    """Fails in turn as told, then answers. ``kind`` is that of the actor."""

    failures: list[ProviderError]
    replies: list[Reply] = field(default_factory=lambda: list(REPLIES))
    asked_at: list[float] = field(default_factory=list)

    def play(self, stage: Stage, *, kind: str = "live", change: dict[str, JsonValue] | None = None) -> Played:
        """An episode with it."""

        def reply(_: ModelRequest, __: TurnContext) -> Reply:
            self.asked_at.append(stage.clock.monotonic())
            if self.failures:
                raise self.failures.pop(0)
            return self.replies.pop(0)

        return stage.play(actor=ReplyActor([reply] * 20, kind=kind), change=change)

    @property
    def gaps(self) -> list[float]:
        """Seconds between the attempts."""
        return [later - earlier for earlier, later in zip(self.asked_at, self.asked_at[1:], strict=False)]


def refused() -> ProviderError:
    return ProviderError("connection_lost", "refused", retryable=True, sent=False)


def answered(category: ProviderCategory, status: int, retry_after_s: float | None = None) -> ProviderError:
    again = category in {"rate_limited", "server_error"}
    return ProviderError(category, "made up", retryable=again, http_status=status, retry_after_s=retry_after_s)


def lost() -> ProviderError:
    return ProviderError("connection_lost", "lost", retryable=True)


@case(209)
def test_a_provider_that_refuses_every_connection_is_asked_a_bounded_number_of_times(stage: Stage) -> None:
    played = Flaky([refused() for _ in range(9)]).play(stage)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail, played.receipt.verdict) == ("failed/model_error", "transport", "not_judged")
    rows = played.result.log.attempts
    assert [(row.operation, row.attempt, row.error) for row in rows] == [
        ("turn-1/main", number, "connection_lost") for number in (1, 2, 3, 4)
    ]
    assert {row.status for row in rows} == {"not_sent"}  # it provably never left: nothing is paid for it
    assert played.receipt.counters.model_turns == 0
    assert played.result.log.problem == "connection_lost: refused"


@case(210)
@pytest.mark.parametrize(
    ("category", "status", "attempts", "detail"),
    [("auth", 401, 1, "auth"), ("rate_limited", 429, 4, "rate_limited"), ("server_error", 503, 4, "server")],
)
def test_what_a_provider_answers_decides_whether_it_is_asked_again(
    stage: Stage, category: ProviderCategory, status: int, attempts: int, detail: str
) -> None:
    played = Flaky([answered(category, status) for _ in range(9)]).play(stage)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail, played.receipt.verdict) == ("failed/model_error", detail, "not_judged")
    assert [(row.status, row.http_status) for row in played.result.log.attempts] == [("failed", status)] * attempts
    assert played.receipt.counters.model_turns == 1


@case(210)
def test_a_retry_time_that_is_used_up_ends_the_attempts(stage: Stage) -> None:
    flaky = Flaky([answered("rate_limited", 429, 25.0) for _ in range(9)])
    played = flaky.play(stage, change={"limits": {"model_attempts": 10}})
    assert played.receipt.outcome.detail == "rate_limited"
    assert flaky.gaps == [pytest.approx(25.0)] * 2  # a third pause would go beyond 60 seconds
    assert stage.clock.monotonic() == pytest.approx(50.0)


def test_a_pause_longer_than_there_is_time_is_not_waited(stage: Stage) -> None:
    flaky = Flaky([answered("rate_limited", 429, 3600.0)])
    assert flaky.play(stage).receipt.outcome.detail == "rate_limited"
    flaky = Flaky([answered("rate_limited", 429, 30.0)])
    limits: JsonValue = {"deadline_s": 20.0}
    assert flaky.play(stage, change={"limits": limits}).receipt.outcome.detail == "rate_limited"
    assert stage.pauses == []


def test_an_outage_that_is_over_leaves_the_receipt_of_an_undisturbed_episode(stage: Stage) -> None:
    journal = Journal()
    undisturbed = stage.play(actor=ReplyActor(list(REPLIES)), journal=journal)
    played = Flaky([refused(), answered("server_error", 503), answered("rate_limited", 429)]).play(
        stage, change={"limits": {"model_turns": 2, "total_tokens": 15}}
    )
    assert played.receipt.verdict == "pass"
    assert played.receipt.counters == undisturbed.receipt.counters
    assert [(row.attempt, row.status) for row in played.result.log.attempts] == [
        *((1, "not_sent"), (2, "failed"), (3, "failed"), (4, "completed")),
        (1, "completed"),
    ]
    assert (played.result.log.problem, played.result.log.recovery) == (None, ())


def test_a_lost_connection_may_have_been_paid_for_and_is_flagged(stage: Stage) -> None:
    played = Flaky([lost()]).play(stage)
    assert (played.receipt.verdict, played.result.log.recovery) == ("pass", ("duplicate_risk",))
    assert [row.status for row in played.result.log.attempts] == ["unknown", "completed", "completed"]
    limited = Flaky([lost()]).play(stage, change={"limits": {"total_tokens": 100}})
    assert limited.receipt.outcome.name == "limit_exceeded/metric_unavailable"


@case(211)
def test_a_reply_that_broke_off_is_never_asked_for_again(stage: Stage) -> None:
    journal = Journal()
    error = ProviderError("connection_lost", "broke off", retryable=True, delivered=True)

    def breaks_off(_: ModelRequest, __: TurnContext) -> Reply:
        raise error

    actor = ReplyActor([breaks_off])
    played = stage.play(actor=actor, journal=journal)
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.detail) == ("suspended/reconciliation_required", "model_call")
    assert (len(actor.requests), journal.state.operations["turn-1/main"].status) == (1, "unknown")
    assert journal.state.total_tokens.value is None


def test_a_script_is_never_asked_again(stage: Stage) -> None:
    played = Flaky([answered("rate_limited", 429)]).play(stage, kind="script")
    assert (len(played.result.log.attempts), played.receipt.outcome.detail) == (1, "rate_limited")


def test_a_recording_is_asked_again_as_it_was_and_without_a_pause(stage: Stage) -> None:
    played = Flaky([answered("rate_limited", 429, 3600.0) for _ in range(6)]).play(stage, kind="recorded")
    assert (played.receipt.verdict, len(played.result.log.attempts), stage.pauses) == ("pass", 8, [])


def test_a_pause_ends_with_the_cancellation(stage: Stage) -> None:
    def failing(_: ModelRequest, __: TurnContext) -> Reply:
        raise answered("rate_limited", 429, 20.0)

    played = stage.play(actor=ReplyActor([failing] * 4), cancelled=lambda: stage.clock.monotonic() > 3)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert 3 < stage.clock.monotonic() < 3.2
    assert len(played.result.log.attempts) == 1


def test_the_attempts_are_one_operation_and_each_has_a_row(stage: Stage) -> None:
    journal = Journal()

    def playing(failures: list[ProviderError]) -> Callable[[ModelRequest, TurnContext], Reply]:
        def reply(_: ModelRequest, __: TurnContext) -> Reply:
            if failures:
                raise failures.pop(0)
            return said("Bye.")

        return reply

    stage.play(actor=ReplyActor([playing([answered("server_error", 500), refused(), lost()])] * 4), journal=journal)
    kinds = (OpStarted, OpReceipt, OpNotSent, OpUnknown, UsageRow)
    told = [record.payload for record in journal.records if isinstance(record.payload, kinds)]
    main = [one for one in told if "main" in (one.row if isinstance(one, UsageRow) else one.operation)]
    row, operation = "turn-1/main:attempt:", "turn-1/main"
    assert main[:9] == [
        OpStarted(operation=operation, attempt=1),
        OpReceipt(operation=operation, attempt=1, status="failed", detail="server_error"),
        UsageRow(row=f"{row}1", purpose="main", status="failed", usage=None),
        OpStarted(operation=operation, attempt=2),
        OpNotSent(operation=operation, attempt=2, detail="connection_lost"),
        UsageRow(row=f"{row}2", purpose="main", status="not_sent", usage=None),
        OpStarted(operation=operation, attempt=3),
        OpUnknown(operation=operation, attempt=3, detail="connection_lost"),
        UsageRow(row=f"{row}3", purpose="main", status="unknown", usage=None),
    ]
    assert main[-1] == UsageRow(row=f"{row}4", purpose="main", status="completed", usage=FEW_TOKENS)
    assert journal.state.model_turns == 1


def test_pauses_double_up_to_a_bound_and_are_never_the_same() -> None:
    for attempt, least in enumerate((1, 2, 4, 8, 16), 1):
        drawn = [backoff_s(attempt) for _ in range(20)]
        assert least <= min(drawn) < max(drawn) <= least + 1
    assert backoff_s(50) == PAUSE_MAX_S


class Killed(BaseException):
    """As if the process had ended here."""


@pytest.mark.parametrize("when", ["in the pause", "in the second attempt"])
def test_a_series_is_gone_on_with_after_a_kill(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    undisturbed = stage.play(actor=ReplyActor(list(REPLIES))).receipt
    asked: list[int] = []

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        asked.append(context.turn)
        if len(asked) == 1:
            raise answered("rate_limited", 429)
        if len(asked) == 2 and when == "in the second attempt":
            raise Killed
        return REPLIES[context.turn - 1]

    def dies(_: Stage, __: float) -> None:
        raise Killed

    def drive(token: str) -> Played:
        place = DurablePlace(tmp_path / "episode", token, sync=False)
        return stage.play(actor=ReplyActor([reply] * 9), durable=place)

    with monkeypatch.context() as patch:
        if when == "in the pause":
            patch.setattr(Stage, "pause", dies)
        with pytest.raises(Killed):
            drive("1")
    paused = len(stage.pauses)
    played = drive("2")
    assert played.receipt == undisturbed
    rows = [(row.attempt, row.status) for row in played.result.log.attempts]
    if when == "in the pause":
        assert (rows, asked) == ([(1, "failed"), (2, "completed"), (1, "completed")], [1, 1, 2])
        assert "duplicate_risk" not in played.result.log.recovery
    else:
        assert rows == [(1, "failed"), (2, "unknown"), (3, "completed"), (1, "completed")]
        assert "duplicate_risk" in played.result.log.recovery
        assert len(stage.pauses) == paused  # what was waited for is not waited for again


def test_an_attempt_that_was_cut_off_uses_up_none_of_the_retries(stage: Stage, tmp_path: Path) -> None:
    """The provider fails twice and the bound is three: whether its driver was killed meanwhile does not matter."""
    change: dict[str, JsonValue] = {"limits": {"model_attempts": 3}}
    undisturbed = Flaky([answered("rate_limited", 429) for _ in range(2)]).play(stage, change=change).receipt
    asked: list[int] = []

    def reply(_: ModelRequest, context: TurnContext) -> Reply:
        asked.append(context.visit.again)
        if len(asked) == 1:
            raise Killed
        if context.visit.again < 2 and context.turn == 1:
            raise answered("rate_limited", 429)
        return REPLIES[context.turn - 1]

    def drive(token: str) -> Played:
        place = DurablePlace(tmp_path / "episode", token, sync=False)
        return stage.play(actor=ReplyActor([reply] * 9), durable=place, change=change)

    with pytest.raises(Killed):
        drive("1")
    assert drive("2").receipt == undisturbed
    assert asked == [0, 0, 1, 2, 0]
