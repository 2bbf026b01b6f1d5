"""Every limit of an episode at every boundary where it is asked, and what is measured outside of the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest
from numbered import case
from toy import SCENARIO, Played, ReplyActor, Stage, answer, called, completed, said

from harness.episode.durable import DurablePlace
from harness.errors import ProviderCategory, ProviderError
from harness.journal import Journal, JournalFile
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply, ToolMessage, Usage
from harness.schema.metric import COUNT_MAX, CostReading
from harness.schema.price import Price
from harness.schema.process import Completed
from harness.schema.record import BudgetStop, Metered, Record, UsageRow
from harness.schema.spending import Entry
from harness.workspace import Workspace

NO_CACHE_TOLD = Usage(input_tokens=4, output_tokens=2)


def counted(total: int, uncached: int = 0) -> Usage:
    """Usage of so many tokens, all of them input, so many of those from no cache."""
    return Usage(input_tokens=total, output_tokens=0, cache_read_tokens=total - uncached)


def ends(*, usage: Usage | None) -> Reply:
    return said("Done.", usage=usage)


def looks(*, usage: Usage | None = None, number: int = 1) -> Reply:
    return said("", called("ls", id_=f"look-{number}"), usage=usage or Usage.model_validate(COUNTED_NOTHING))


COUNTED_NOTHING: dict[str, JsonValue] = {"input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0}


def limits(**given: JsonValue) -> dict[str, JsonValue]:
    return {"limits": given}


def outcome(played: Played) -> tuple[str, str | None, int | None, int | None]:
    found = played.receipt.outcome
    return found.name, found.detail, found.observed, found.overshoot


@dataclass
class Said:
    """A meter that says these one after the other, the last one for ever."""

    readings: list[CostReading | Exception]
    asked: int = 0

    def read(self) -> CostReading:
        self.asked += 1
        reading = self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]
        if isinstance(reading, Exception):
            raise reading
        return reading


def micro(count: int | None, unit: str = "money") -> CostReading:
    return CostReading(micro=count, unit=unit, currency="USD")


@case(42)
def test_finishing_with_exactly_the_tokens_is_a_completion(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([ends(usage=counted(10))]), change=limits(total_tokens=10))
    assert played.receipt.outcome.name == "completed/final_response"


@case(43)
def test_a_reply_that_crosses_the_tokens_is_not_used_and_keeps_its_usage(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([ends(usage=counted(12))]), change=limits(total_tokens=10))
    assert outcome(played) == ("limit_exceeded/total_tokens", None, 12, 2)
    assert played.result.log.attempts[0].usage == counted(12)
    assert played.receipt.turns[0].said_text


@case(44)
def test_tokens_that_are_used_up_admit_no_other_turn(stage: Stage) -> None:
    actor = ReplyActor([looks(usage=counted(10))])
    played = stage.play(actor=actor, change=limits(total_tokens=10))
    assert outcome(played) == ("limit_exceeded/total_tokens", None, 10, 0)
    assert [step.executed for step in played.receipt.steps] == [True]
    assert len(actor.requests) == 1


@case(217)
def test_only_what_no_cache_gave_counts_as_uncached(stage: Stage) -> None:
    actor = ReplyActor([ends(usage=counted(200, uncached=60))])
    played = stage.play(actor=actor, change=limits(uncached_input_tokens=50))
    assert outcome(played) == ("limit_exceeded/uncached_input_tokens", None, 60, 10)


@case(43)
def test_the_calls_of_a_reply_that_crosses_the_tokens_do_not_run(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([looks(usage=counted(12))]), change=limits(total_tokens=10))
    assert outcome(played) == ("limit_exceeded/total_tokens", None, 12, 2)
    assert played.receipt.steps == ()


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("continue_and_mark", ("completed/final_response", "inline"), marks=case(45)),
        pytest.param(
            "stop",
            ("limit_exceeded/metric_unavailable", "uncached_input_tokens:usage_missing"),
            marks=case(46),
        ),
    ],
)
def test_a_count_that_cannot_be_known_is_marked_or_the_end(
    stage: Stage, policy: str, expected: tuple[str, str]
) -> None:
    replies = [looks(usage=NO_CACHE_TOLD), ends(usage=NO_CACHE_TOLD)]
    change = limits(uncached_input_tokens=50, unknown_metric=policy)
    played = stage.play(actor=ReplyActor([*replies]), change=change)
    assert outcome(played)[:2] == expected
    assert played.result.log.unavailable == ("uncached_input_tokens:usage_missing",)


@case(47)
def test_an_explicit_zero_is_known(stage: Stage) -> None:
    actor = ReplyActor([ends(usage=counted(0))])
    played = stage.play(actor=actor, change=limits(total_tokens=1, uncached_input_tokens=1))
    assert played.receipt.outcome.name == "completed/final_response"
    assert played.result.log.unavailable == ()


@case(60)
def test_a_live_reply_without_usage_under_a_token_limit_is_not_used(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([looks(usage=Usage())]), change=limits(total_tokens=10))
    assert outcome(played)[:2] == ("limit_exceeded/metric_unavailable", "total_tokens:usage_missing")
    assert played.receipt.steps == ()
    assert played.receipt.verdict == "not_judged"


@case(55)
def test_a_sum_beyond_what_can_be_counted_is_unknown_and_stays_so(stage: Stage) -> None:
    change = limits(total_tokens=COUNT_MAX, unknown_metric="continue_and_mark")
    actor = ReplyActor([looks(usage=counted(COUNT_MAX - 1)), looks(usage=counted(2), number=2), ends(usage=counted(0))])
    played = stage.play(actor=actor, change=change)
    assert played.receipt.outcome.name == "completed/final_response"
    assert played.result.log.unavailable == ("total_tokens:overflow",)


@case(48)
def test_a_batch_above_the_calls_runs_none_of_them(stage: Stage) -> None:
    batch = said("", called("ls", id_="1"), called("pwd", id_="2"))
    played = stage.play(actor=ReplyActor([batch]), change=limits(tool_calls=1))
    found = played.receipt.outcome
    assert (found.name, found.observed, found.attempted, found.overshoot) == ("limit_exceeded/tool_calls", 0, 2, 1)
    assert played.receipt.steps == ()


@case(58)
def test_an_actor_may_still_answer_after_its_last_call(stage: Stage) -> None:
    batch = said("", called("ls", id_="1"), called("pwd", id_="2"))
    played = stage.play(actor=ReplyActor([batch, said("Done.")]), change=limits(tool_calls=2))
    assert played.receipt.outcome.name == "completed/final_response"


@case(59)
def test_a_further_call_after_the_last_one_is_the_end(stage: Stage) -> None:
    batch = said("", called("ls", id_="1"), called("pwd", id_="2"))
    played = stage.play(actor=ReplyActor([batch, said("", called("ls", id_="3"))]), change=limits(tool_calls=2))
    found = played.receipt.outcome
    assert (found.name, found.observed, found.attempted, found.overshoot) == ("limit_exceeded/tool_calls", 2, 1, 1)
    assert len(played.receipt.steps) == 2


@case(40)
def test_no_turn_at_all_asks_nobody(stage: Stage) -> None:
    actor = ReplyActor([])
    assert outcome(stage.play(actor=actor, change=limits(model_turns=0)))[0] == "limit_exceeded/model_turns"
    assert actor.requests == []


@case(61)
def test_calls_of_the_last_turn_may_be_refused(stage: Stage) -> None:
    change = limits(model_turns=1, last_turn_tools="refuse")
    played = stage.play(actor=ReplyActor([looks()]), change=change)
    assert outcome(played)[0] == "limit_exceeded/model_turns"
    assert played.receipt.steps == ()


@case(62)
def test_a_call_of_the_last_turn_may_satisfy_the_scenario(stage: Stage) -> None:
    both = said("", called("toy ask plane", id_="1"), called("cat notes/a.json", id_="2"))
    played = stage.play(actor=ReplyActor([both]), change=limits(model_turns=1))
    assert played.receipt.outcome.name == "completed/scenario_satisfied"


@case(63)
def test_a_call_of_the_last_turn_that_proves_nothing_is_followed_by_the_end(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([looks()]), change=limits(model_turns=1))
    assert outcome(played)[0] == "limit_exceeded/model_turns"
    assert [step.executed for step in played.receipt.steps] == [True]


@case(64)
def test_more_calls_than_a_turn_may_make_run_none(stage: Stage) -> None:
    calls = [called("ls", id_=str(number)) for number in range(33)]
    played = stage.play(actor=ReplyActor([said("", *calls)]), change=limits(tool_calls=100))
    assert outcome(played)[0] == "limit_exceeded/tool_calls_per_turn"
    assert played.receipt.steps == ()


@case(65)
def test_the_calls_above_the_cap_of_a_turn_are_answered_and_not_run(stage: Stage) -> None:
    calls = [called("ls", id_=str(number)) for number in range(18)]
    actor = ReplyActor([said("", *calls), said("Done.")])
    change = limits(tool_calls_per_turn=16, turn_cap="answer_excess", tool_calls=16)
    played = stage.play(actor=actor, change=change)
    assert [step.result for step in played.receipt.steps] == ["succeeded"] * 16 + ["over_turn_cap"] * 2
    shown = [message for message in actor.requests[1].messages if isinstance(message, ToolMessage)]
    assert len(shown) == 18
    assert shown[0].text.startswith("[2 of 18 calls were not run: one turn runs at most 16]\n")
    assert shown[17].text == "error: not run: one turn runs at most 16 calls; ask again"
    assert played.receipt.outcome.name == "completed/final_response"


def test_an_id_above_the_cap_cannot_be_used_again(stage: Stage) -> None:
    first = said("", called("ls", id_="1"), called("ls", id_="2"))
    change = limits(tool_calls_per_turn=1, turn_cap="answer_excess") | {"strict": {"ids": "fail"}}
    played = stage.play(actor=ReplyActor([first, said("", called("pwd", id_="2"))]), change=change)
    assert (played.receipt.outcome.reason, played.receipt.outcome.detail) == ("invalid_model_response", "ids")


@case(216)
def test_a_name_above_its_own_limit_stops_the_calls_of_other_names_too(stage: Stage) -> None:
    calls = [called("ls", "read", "1"), called("ls", "write", "2"), called("ls", "write", "3")]
    played = stage.play(actor=ReplyActor([said("", *calls)]), change=limits(tool_calls_by_name={"write": 1}))
    found = played.receipt.outcome
    assert (found.name, found.detail) == ("limit_exceeded/tool_calls_by_name", "write")
    assert (found.observed, found.attempted, found.overshoot) == (0, 2, 1)
    assert played.receipt.steps == ()


@case(51)
def test_no_time_at_work_asks_nobody(stage: Stage) -> None:
    actor, journal = ReplyActor([]), Journal()
    played = stage.play(actor=actor, change=limits(active_s=0.0), journal=journal)
    assert "turn_opened" not in [record.payload.kind for record in journal.records]
    assert outcome(played)[:2] == ("limit_exceeded/duration", "active_time")
    assert (actor.requests, played.receipt.verdict) == ([], "not_judged")


@case(24)
def test_a_cancellation_beats_an_empty_budget(stage: Stage) -> None:
    actor = ReplyActor([])
    played = stage.play(actor=actor, change=limits(active_s=0.0), cancelled=lambda: True)
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert actor.requests == []


@case(66)
def test_a_cancellation_beats_a_reply_that_crosses_a_limit(stage: Stage) -> None:
    flag: list[bool] = []

    def reply(_: ModelRequest, __: TurnContext) -> Reply:
        flag.append(True)
        return ends(usage=counted(12))

    played = stage.play(actor=ReplyActor([reply]), change=limits(total_tokens=10), cancelled=lambda: bool(flag))
    assert played.receipt.outcome.name == "cancelled/cancellation_requested"
    assert played.result.log.attempts[0].usage == counted(12)


@case(67)
def test_a_tool_that_failed_is_told_and_not_the_time_that_is_over(stage: Stage) -> None:
    def fails(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        stage.clock.advance(61)
        return completed("", 1)

    played = stage.play(actor=ReplyActor([said("", called("toy ask plane"))]), says=fails)
    assert played.ending == ("failed/scenario_violation", "fail", "ask_failed")


@case(67)
@pytest.mark.parametrize("field", ["deadline_s", "active_s"])
def test_a_terminal_error_is_told_and_not_the_time_that_is_over(stage: Stage, field: str) -> None:
    def fails(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args == ("greet",):
            return answer(workspace, args)
        stage.clock.advance(31)
        return completed("", 70)

    kinds = SCENARIO["kind"]
    assert isinstance(kinds, list)
    broken: JsonValue = {"exit": 70, "class": "terminal", "code": "broken"}
    change: dict[str, JsonValue] = {
        **limits(**{"deadline_s": 60.0, field: 30.0}),
        "kind": [*kinds, {"name": "poll", "call": ["poll plane"], "errors": [broken]}],
        "call": {"allow": {"poll plane": []}},
    }
    played = stage.play(actor=ReplyActor([said("", called("toy poll plane"))]), says=fails, change=change)
    assert outcome(played)[:2] == ("failed/tool_error", "exec:broken")


@case(67)
@pytest.mark.parametrize("field", ["deadline_s", "active_s"])
def test_time_that_ran_out_in_the_last_batch_is_told_before_another_turn(stage: Stage, field: str) -> None:
    def slow(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args != ("greet",):
            stage.clock.advance(31)
        return answer(workspace, args)

    journal = Journal()
    actor = ReplyActor([said("", called("toy ask plane"))])
    change = limits(**{"deadline_s": 60.0, field: 30.0})
    played = stage.play(actor=actor, says=slow, change=change, journal=journal)
    assert outcome(played)[0] == "limit_exceeded/duration"
    kinds = [record.payload.kind for record in journal.records]
    assert kinds.index("budget_stop") < kinds.index("turn_committed")


@case(51)
@pytest.mark.parametrize("field", ["deadline_s", "active_s"])
def test_time_that_is_just_used_up_admits_no_other_turn(stage: Stage, field: str) -> None:
    def slow(workspace: Workspace, args: tuple[str, ...]) -> Completed:
        if args != ("greet",):
            stage.clock.advance(30)
        return answer(workspace, args)

    actor = ReplyActor([said("", called("toy ask plane"))])
    played = stage.play(actor=actor, says=slow, change=limits(**{"deadline_s": 60.0, field: 30.0}))
    assert outcome(played)[0] == "limit_exceeded/duration"
    assert len(actor.requests) == 1


def test_a_reply_that_comes_in_the_last_moment_is_a_completion_and_a_later_one_is_not(stage: Stage) -> None:
    for late, name in ((30.0, "completed/final_response"), (30.5, "limit_exceeded/duration")):

        def slow(_: ModelRequest, __: TurnContext, late: float = late) -> Reply:
            stage.clock.advance(late)
            return said("Done.")

        assert stage.play(actor=ReplyActor([slow]), change=limits(active_s=30.0)).receipt.outcome.name == name


def test_a_completion_counts_as_such_only_where_time_is_left_at_its_end(stage: Stage) -> None:
    meter = Said([micro(0), micro(0), micro(0), micro(101)])
    played = stage.play(actor=ReplyActor([said("Done.")]), change=limits(host_cost={"micro": 100}), meter=meter)
    assert outcome(played) == ("limit_exceeded/host_cost", "money:USD", 101, 1)
    satisfied = Said([micro(0), micro(0), micro(0), micro(0), micro(101)])
    both = said("", called("toy ask plane", id_="1"), called("cat notes/a.json", id_="2"))
    played = stage.play(actor=ReplyActor([both]), change=limits(host_cost={"micro": 100}), meter=satisfied)
    assert played.receipt.outcome.name == "completed/scenario_satisfied"


@case(52)
def test_a_cost_that_is_crossed_ends_after_the_model(stage: Stage) -> None:
    meter = Said([micro(0), micro(0), micro(120)])
    played = stage.play(actor=ReplyActor([looks()]), change=limits(host_cost={"micro": 100}), meter=meter)
    assert outcome(played) == ("limit_exceeded/host_cost", "money:USD", 120, 20)
    assert (played.receipt.steps, played.receipt.verdict) == ((), "not_judged")


@pytest.mark.parametrize(
    ("meter", "cause"),
    [
        pytest.param(Said([micro(1, unit="credits")]), "unit_mismatch", marks=case(53)),
        (Said([micro(None)]), "meter_unavailable"),
        (Said([RuntimeError("secret words of a host")]), "meter_error"),
        (None, "meter_missing"),
    ],
    ids=["unit", "unavailable", "error", "missing"],
)
def test_a_meter_of_no_use_ends_before_anybody_is_asked(stage: Stage, meter: Said | None, cause: str) -> None:
    actor = ReplyActor([])
    played = stage.play(actor=actor, change=limits(host_cost={"micro": 100}), meter=meter)
    assert outcome(played)[:2] == ("limit_exceeded/metric_unavailable", f"host_cost:{cause}")
    assert actor.requests == []
    assert "secret words" not in played.result.model_dump_json()


@case(54)
def test_a_meter_that_went_back_is_not_believed_again(stage: Stage) -> None:
    meter = Said([micro(50), micro(40), micro(60)])
    change = limits(host_cost={"micro": 55}, unknown_metric="continue_and_mark")
    played = stage.play(actor=ReplyActor([looks(), said("Done.")]), change=change, meter=meter)
    assert played.receipt.outcome.name == "completed/final_response"
    assert played.result.log.unavailable == ("host_cost:non_monotonic",)
    assert meter.asked == 2


PRICE = Price(input=Decimal(1), output=Decimal(5), cache_read=Decimal("0.1"), source="test")


def test_a_live_actor_with_a_price_is_metered_by_its_own_ledger(stage: Stage) -> None:
    actor = ReplyActor([looks(usage=Usage(input_tokens=10, output_tokens=2, cache_read_tokens=0))])
    played = stage.play(actor=actor, change=limits(host_cost={"micro": 20}), price=PRICE)
    assert outcome(played) == ("limit_exceeded/host_cost", "money:USD", 20, 0)
    assert played.result.log.attempts[0].cost_micro_usd == Decimal(20)
    unknown = stage.play(actor=ReplyActor([ends(usage=Usage())]), change=limits(host_cost={"micro": 20}), price=PRICE)
    assert outcome(unknown)[:2] == ("limit_exceeded/metric_unavailable", "host_cost:meter_unavailable")


def test_a_script_costs_nothing(stage: Stage) -> None:
    assert stage.play(change=limits(host_cost={"micro": 1})).receipt.verdict == "pass"


def test_without_limits_of_it_nothing_is_measured(stage: Stage) -> None:
    journal = Journal()
    played = stage.play(journal=journal)
    assert not any(isinstance(record.payload, Metered | BudgetStop) for record in journal.records)
    assert played.result.log.active_s is None


@case(203)
def test_an_attempt_that_is_entered_twice_is_an_error_of_the_ledger(stage: Stage) -> None:
    journal = Journal()
    row = UsageRow(row="turn-1/main:attempt:1", purpose="main", status="completed", usage=counted(1))
    journal.append(row)
    played = stage.play(actor=ReplyActor([said("Done.")]), journal=journal)
    assert (played.receipt.outcome.name, played.receipt.verdict) == ("failed/accounting_error", "not_judged")
    assert played.receipt.cause == "harness"


class Killed(BaseException):
    """As if the process had ended here."""


@dataclass
class Drivers:
    """Drivers of one live episode in one folder, one after the other."""

    stage: Stage
    folder: Path
    number: int = 0
    asked: list[int] = field(default_factory=list)

    def drive(
        self, reply: Callable[[int], Reply], *, change: dict[str, JsonValue], quota: Gate | None = None
    ) -> Played:
        self.number += 1

        def replies(_: ModelRequest, context: TurnContext) -> Reply:
            self.asked.append(context.turn)
            return reply(context.turn)

        place = DurablePlace(self.folder, f"driver{self.number}", sync=False)
        return self.stage.play(actor=ReplyActor([replies] * 9), durable=place, change=change, quota=quota)


@pytest.fixture
def drivers(stage: Stage, tmp_path: Path) -> Drivers:
    return Drivers(stage, tmp_path / "episode")


@case(38)
def test_time_between_two_drivers_is_no_time_at_work(drivers: Drivers, stage: Stage) -> None:
    """120 seconds, then nobody for 5,000, then 30 more."""
    change = limits(active_s=200.0, deadline_s=86_400.0)

    def killed_in_its_second_turn(turn: int) -> Reply:
        if turn == 2:
            raise Killed
        stage.clock.advance(120)
        return looks()

    def later(_: int) -> Reply:
        stage.clock.advance(30)
        return said("Done.")

    with pytest.raises(Killed):
        drivers.drive(killed_in_its_second_turn, change=change)
    stage.clock.advance(5_000)
    played = drivers.drive(later, change=change)
    assert played.receipt.outcome.name == "completed/final_response"
    assert played.result.log.active_s == 150.0
    assert drivers.asked == [1, 2, 2]


@case(38)
def test_time_in_a_queue_is_no_time_at_work(stage: Stage) -> None:
    gate = Gate(waits=lambda: stage.clock.advance(5_000))

    def slow(_: ModelRequest, context: TurnContext) -> Reply:
        stage.clock.advance(120 if context.turn == 1 else 30)
        return looks() if context.turn == 1 else said("Done.")

    change = limits(active_s=200.0, deadline_s=86_400.0)
    played = stage.play(actor=ReplyActor([slow, slow]), change=change, quota=gate)
    assert played.result.log.active_s == 150.0


@pytest.mark.parametrize("kind", ["turn_committed", "closed", "acknowledged"])
def test_what_was_measured_is_taken_from_the_journal_and_decides_the_same(
    drivers: Drivers, stage: Stage, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Killed after the decision: another driver is fast, and ends as the slow one did."""
    change = limits(active_s=100.0, deadline_s=86_400.0)

    def slow(_: int) -> Reply:
        stage.clock.advance(101)
        return said("Done.")

    def killing(self: JournalFile, record: Record) -> None:
        if record.payload.kind == kind:
            raise Killed
        write(self, record)

    write = JournalFile.write
    with monkeypatch.context() as patch:
        patch.setattr(JournalFile, "write", killing)
        with pytest.raises(Killed):
            drivers.drive(slow, change=change)
    played = drivers.drive(slow, change=change)
    assert outcome(played)[:2] == ("limit_exceeded/duration", "active_time")
    assert (played.result.log.active_s, drivers.asked) == (101.0, [1])


@dataclass
class Gate:
    """A host's quota that admits so many attempts, and keeps what it was told."""

    attempts: int = 99
    is_open: bool = True
    waits: Callable[[], None] = lambda: None
    reserved: list[str] = field(default_factory=list)
    settled: list[tuple[str, Usage | None, bool]] = field(default_factory=list)
    known: dict[str, Entry] = field(default_factory=dict)

    def admits(self) -> bool:
        return self.is_open

    def before(self, attempt: str) -> Entry | None:
        return self.known.get(attempt)

    def reserve(self, attempt: str, request: ModelRequest, *, seconds: float, stopped: Callable[[], bool]) -> bool:
        assert seconds > 0
        assert request.messages
        assert not stopped()
        self.waits()
        if len(self.reserved) >= self.attempts:
            return False
        self.reserved.append(attempt)
        return True

    def settle(self, attempt: str, usage: Usage | None, *, billed: bool) -> None:
        self.settled.append((attempt, usage, billed))


@case(212)
def test_a_quota_that_is_used_up_ends_before_the_attempt_is_made(stage: Stage) -> None:
    gate = Gate(attempts=2)
    actor = ReplyActor([looks(number=1), looks(number=2), looks(number=3)])
    played = stage.play(actor=actor, quota=gate)
    assert (played.receipt.outcome.name, played.receipt.verdict) == ("limit_exceeded/quota_refused", "not_judged")
    assert len(actor.requests) == 2
    assert [attempt for attempt, _, _ in gate.settled] == gate.reserved
    assert played.receipt.counters.model_turns == 2


@case(212)
def test_a_quota_that_is_used_up_before_admits_no_episode(stage: Stage) -> None:
    actor = ReplyActor([])
    played = stage.play(actor=actor, quota=Gate(is_open=False))
    assert (played.receipt.outcome.name, played.receipt.verdict) == ("rejected/quota_refused", "not_judged")
    assert (actor.requests, played.plane) == ([], [])


def test_an_episode_on_disk_that_a_quota_stopped_is_gone_on_with(drivers: Drivers) -> None:
    def reply(turn: int) -> Reply:
        return looks() if turn == 1 else said("Done.")

    first = Gate(attempts=1)
    stopped = drivers.drive(reply, change={}, quota=first)
    assert (stopped.receipt.outcome.name, stopped.result.log.resumable) == ("limit_exceeded/quota_refused", True)
    second = Gate()
    resumed = drivers.drive(reply, change={}, quota=second)
    assert resumed.receipt.outcome.name == "completed/final_response"
    assert drivers.asked == [1, 2]
    assert (first.reserved, second.reserved) == (["turn-1/main:attempt:1"], ["turn-2/main:attempt:1"])
    assert [attempt for attempt, _, _ in second.settled] == ["turn-1/main:attempt:1", "turn-2/main:attempt:1"]


@pytest.mark.parametrize(
    ("category", "status", "billed"),
    [
        *[("rate_limited", 429, False), ("quota_exhausted", 402, False), ("auth", 401, False)],
        *[("auth", 403, False), ("invalid_request", 400, False), ("model_not_found", 404, False)],
        *[("server_error", 503, True), ("overloaded", 529, True), ("timeout", 408, True)],
        *[("content_filter", 400, True), ("malformed_tool_call", 400, True), ("bad_response", 200, True)],
        ("connection_lost", None, True),
    ],
)
def test_what_a_provider_turned_away_costs_nothing_and_all_else_may_cost_the_most(
    stage: Stage, category: ProviderCategory, status: int | None, billed: bool
) -> None:
    def fails(_: ModelRequest, __: TurnContext) -> Reply:
        raise ProviderError(category, "made up", http_status=status)

    gate = Gate()
    (row,) = stage.play(actor=ReplyActor([fails]), quota=gate).result.log.attempts
    assert gate.settled == [("turn-1/main:attempt:1", None, billed)]
    assert row.cost_micro_usd == (None if billed else 0)


@pytest.mark.parametrize("delivered", [False, True])
def test_a_rate_limit_in_the_middle_of_an_answer_turns_nothing_away(stage: Stage, delivered: bool) -> None:
    def fails(_: ModelRequest, __: TurnContext) -> Reply:
        raise ProviderError("rate_limited", "made up", http_status=200, delivered=delivered)

    gate = Gate()
    (row,) = stage.play(actor=ReplyActor([fails]), quota=gate).result.log.attempts
    assert [billed for _, _, billed in gate.settled] == [delivered]
    assert row.cost_micro_usd == (None if delivered else 0)


@pytest.mark.parametrize("refused_again", [0, 1, 2])
def test_the_time_in_which_a_quota_held_an_episode_up_is_not_its_own(
    drivers: Drivers, stage: Stage, refused_again: int
) -> None:
    def reply(turn: int) -> Reply:
        return looks(number=turn) if turn < 3 else said("Done.")

    change = limits(deadline_s=300.0)
    drivers.drive(reply, change=change, quota=Gate(attempts=1))
    for _ in range(refused_again):
        stage.clock.advance(5_000.0)
        again = drivers.drive(reply, change=change, quota=Gate(attempts=0))
        assert again.receipt.outcome.name == "limit_exceeded/quota_refused"
    stage.clock.advance(5_000.0)
    assert drivers.drive(reply, change=change, quota=Gate(attempts=1)).receipt.outcome.reason == "quota_refused"
    stage.clock.advance(5_000.0)
    assert drivers.drive(reply, change=change, quota=Gate()).receipt.outcome.name == "completed/final_response"
    assert drivers.asked == [1, 2, 3]


def test_the_time_after_a_kill_is_its_own_though_a_quota_held_it_up_before(drivers: Drivers, stage: Stage) -> None:
    def reply(turn: int) -> Reply:
        if turn == 3:
            raise Killed
        return looks(number=turn)

    change = limits(deadline_s=300.0)
    drivers.drive(reply, change=change, quota=Gate(attempts=1))
    stage.clock.advance(5_000.0)
    with pytest.raises(Killed):
        drivers.drive(reply, change=change, quota=Gate())
    stage.clock.advance(299.0)
    with pytest.raises(Killed):
        drivers.drive(reply, change=change, quota=Gate())
    stage.clock.advance(2.0)
    late = drivers.drive(reply, change=change, quota=Gate())
    assert late.receipt.outcome.name == "rejected/deadline_passed_before_start"


def test_a_call_that_is_made_again_is_reserved_again(drivers: Drivers) -> None:
    def dies(_: int) -> Reply:
        raise Killed

    first = Gate()
    with pytest.raises(Killed):
        drivers.drive(dies, change={}, quota=first)
    refused = drivers.drive(lambda _: said("Done."), change={}, quota=Gate(attempts=0))
    assert (refused.receipt.outcome.reason, drivers.asked) == ("quota_refused", [1])
    last = Gate()
    assert drivers.drive(lambda _: said("Done."), change={}, quota=last).receipt.outcome.reason == "final_response"
    assert last.reserved == ["turn-1/main:attempt:2"]
