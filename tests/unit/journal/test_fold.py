"""Every kind of record has its effect on the state, and no other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from numbered import case

from harness.journal import EpisodeState, apply
from harness.schema.message import Usage
from harness.schema.metric import COUNT_MAX, Metric
from harness.schema.outcome import Outcome
from harness.schema.record import (
    Acknowledged,
    BudgetStop,
    CallResulted,
    Classified,
    Closed,
    Compacted,
    Decided,
    FixtureBound,
    Hooked,
    InputDelivered,
    LateUsage,
    Metered,
    Opened,
    OpNotSent,
    OpParked,
    OpPlanned,
    OpReceipt,
    OpStarted,
    OpUnknown,
    Payload,
    Projection,
    Purpose,
    Resumed,
    Suspended,
    TurnCommitted,
    TurnOpened,
    UsageRow,
)

D = "sha256:" + "1" * 64
E = "sha256:" + "2" * 64
WAITING = Outcome(status="suspended", reason="blocked")


def after(*payloads: Payload) -> EpisodeState:
    state = EpisodeState()
    for payload in payloads:
        state = apply(state, payload)
    return state


def planned(
    operation: str = "turn-1/main",
    purpose: Purpose = "main",
    *,
    tool: str | None = None,
    call_id: str | None = None,
) -> OpPlanned:
    return OpPlanned(operation=operation, purpose=purpose, digest=D, tool=tool, call_id=call_id)


def proposal(kind: str | None, code: str | None = None, *, call: int = 1) -> Classified:
    return Classified(turn=1, call=call, point="proposal", kind_name=kind, code=code, command=D, arguments=E)


def test_opening_and_ending_are_remembered() -> None:
    opened = Opened(scenario="a/b", definition=D, actor=D, trial=1, attempt=1)
    closed = Closed(outcome=Outcome(status="completed", reason="final_response"))
    state = after(opened, FixtureBound(fingerprint=D), closed, Acknowledged(receipt=E))
    assert state.opened == opened
    assert state.fingerprint == D
    assert state.outcome == closed.outcome
    assert state.acknowledged == E


def test_a_suspension_waits_until_it_is_resumed_or_closed() -> None:
    assert after(Suspended(outcome=WAITING)).waiting == WAITING
    assert after(Suspended(outcome=WAITING), Resumed(credited_s=1.0)).waiting is None
    assert after(Suspended(outcome=WAITING), Closed(outcome=WAITING)).waiting is None


@pytest.mark.parametrize(
    "payload",
    [
        InputDelivered(input="prompt.user", digest=D),
        Projection(turn=1, request=D, messages=2),
        Compacted(turn=1, before=9, after=3, summary=D),
        Decided(operation="x", digest=D, decision="retry"),
        Hooked(hook="h", point="before_model", outcome="continue"),
    ],
    ids=lambda payload: payload.kind,
)
def test_records_that_only_tell_change_no_state(payload: Payload) -> None:
    assert after(payload) == EpisodeState()


def test_a_committed_turn_is_kept_and_moves_the_fingerprint_where_it_has_one() -> None:
    with_one = TurnCommitted(turn=1, finish="stop", said_text=True, calls=0, fingerprint=E)
    without = TurnCommitted(turn=2, finish="stop", said_text=False, calls=0)
    state = after(FixtureBound(fingerprint=D), TurnOpened(turn=1), with_one, TurnOpened(turn=2), without)
    assert state.turn == 2
    assert state.turns == (with_one, without)
    assert state.fingerprint == E


OPERATIONS: tuple[tuple[Callable[[], Payload], str, int], ...] = (
    (lambda: OpParked(operation="turn-1/main"), "parked", 1),
    (lambda: OpReceipt(operation="turn-1/main", attempt=1, status="succeeded", spool=D), "succeeded", 1),
    (lambda: OpReceipt(operation="turn-1/main", attempt=1, status="failed"), "failed", 1),
    (lambda: OpUnknown(operation="turn-1/main", attempt=1, detail="deadline"), "unknown", 1),
    (lambda: OpNotSent(operation="turn-1/main", attempt=1), "not_sent", 0),
)


def test_an_operation_of_unknown_effect_may_have_said_something() -> None:
    started = (planned("c", "tool"), OpStarted(operation="c", attempt=1))
    assert after(*started, OpUnknown(operation="c", attempt=1, detail="uncertain", spool=D)).operations["c"].spool == D


@pytest.mark.parametrize(("last", "status", "turns"), OPERATIONS, ids=[row[1] for row in OPERATIONS])
def test_a_started_model_call_is_a_turn_unless_it_never_left(
    last: Callable[[], Payload], status: str, turns: int
) -> None:
    state = after(planned(), OpStarted(operation="turn-1/main", attempt=1), last())
    assert state.operations["turn-1/main"].status == status
    assert state.operations["turn-1/main"].attempt == 1
    assert state.model_turns == turns


def test_a_planned_model_call_is_no_turn_yet() -> None:
    assert after(planned()).model_turns == 0


def test_compaction_and_preparation_take_no_turn() -> None:
    state = after(planned("c", "compaction"), OpStarted(operation="c", attempt=1))
    assert state.model_turns == 0


def test_planned_tool_calls_are_reserved_by_exact_name() -> None:
    state = after(
        planned("a", "tool", tool="read", call_id="1"),
        planned("b", "tool", tool="Read", call_id="2"),
        planned("c", "tool"),
    )
    assert state.tool_calls == 3
    assert state.calls_by_name == {"read": 1, "Read": 1, "": 1}
    assert {"1", "2"} <= state.call_ids


def test_a_call_that_ran_counts_for_its_kind_and_no_other_does() -> None:
    def result(call: int, *, executed: bool) -> CallResulted:
        return CallResulted(
            turn=1,
            call=call,
            call_id=str(call),
            tool="t",
            code="succeeded" if executed else "invalid_arguments",
            executed=executed,
        )

    asked = [proposal("look"), proposal("look", call=2), proposal("look", "repeated_look", call=3)]
    assert after(*asked).counts == {}
    state = after(*asked, result(1, executed=True), result(2, executed=False), result(3, executed=False))
    assert state.counts == {"look": 1}
    assert [step.code for step in state.steps] == [None, None, "repeated_look"]
    assert after(proposal(None), result(1, executed=True)).counts == {}


def test_a_good_result_sets_its_facts_once_and_in_order() -> None:
    def result(*sets: str, call: int) -> Classified:
        return Classified(turn=1, call=call, point="result", kind_name="look", code=None, sets=sets)

    state = after(proposal("look"), result("b", call=1), proposal("look", call=2), result("a", "b", call=2))
    assert state.facts == ("b", "a")
    assert [step.sets for step in state.steps] == [("b",), ("a", "b")]


def test_a_call_result_fills_its_step_and_counts_only_what_ran() -> None:
    done = CallResulted(turn=1, call=1, call_id="x", tool="t", code="succeeded", executed=True, answer=D)
    skipped = CallResulted(turn=1, call=2, call_id="y", tool="t", code="skipped_due_to_stop", executed=False)
    state = after(proposal("look"), done, skipped)
    assert [(step.kind, step.result, step.answer) for step in state.steps] == [
        ("look", "succeeded", D),
        (None, "skipped_due_to_stop", None),
    ]
    assert state.executed_calls == 1


def test_steps_stand_in_declared_order_whatever_was_recorded_last() -> None:
    state = after(proposal("a", call=2), proposal("b", call=1))
    assert [step.kind for step in state.steps] == ["b", "a"]
    state = apply(state, proposal("c", call=1))
    assert [step.kind for step in state.steps] == ["c", "a"]
    state = apply(state, proposal("d", call=2))
    assert [step.kind for step in state.steps] == ["c", "d"]


def usage(row: str, **tokens: int) -> UsageRow:
    return UsageRow(row=row, purpose="main", status="completed", usage=Usage(**tokens))


def test_tokens_add_up_and_an_explicit_zero_is_zero() -> None:
    state = after(
        usage("1", input_tokens=10, output_tokens=2, cache_read_tokens=4),
        usage("2", input_tokens=0, output_tokens=0, cache_read_tokens=0),
    )
    assert state.total_tokens.value == 12
    assert state.uncached_input_tokens.value == 6


@pytest.mark.parametrize("tokens", [{}, {"input_tokens": 3}], ids=["nothing", "no output"])
def test_missing_usage_makes_the_total_unknown_never_zero(tokens: dict[str, int]) -> None:
    assert after(usage("1", input_tokens=1, output_tokens=1), usage("2", **tokens)).total_tokens.value is None


def test_an_attempt_without_usage_makes_the_total_unknown() -> None:
    row = UsageRow(row="1", purpose="main", status="unknown", usage=None)
    assert after(row).total_tokens.value is None


def test_an_attempt_that_was_not_sent_costs_nothing() -> None:
    row = UsageRow(row="1", purpose="main", status="not_sent", usage=None)
    assert after(row).total_tokens.value == 0


def test_late_usage_fills_the_unknown_row_of_its_name_only() -> None:
    unknown = UsageRow(row="1", purpose="main", status="unknown", usage=None)
    late = LateUsage(row="1", usage=Usage(input_tokens=5, output_tokens=2))
    assert after(unknown, late).total_tokens.value == 7
    assert after(usage("1", input_tokens=1, output_tokens=1), late).total_tokens.value == 2
    assert after(unknown, LateUsage(row="2", usage=Usage(input_tokens=5, output_tokens=2))).total_tokens.value is None


@case(55)
def test_a_sum_beyond_what_can_be_counted_is_no_sum() -> None:
    rows = [usage("1", input_tokens=COUNT_MAX, output_tokens=0), usage("2", input_tokens=1, output_tokens=0)]
    assert after(*rows[:1]).total_tokens == Metric(value=COUNT_MAX)
    assert after(*rows).total_tokens == Metric(cause="overflow")
    assert after(*rows, usage("3", input_tokens=0, output_tokens=0)).total_tokens == Metric(cause="overflow")


@pytest.mark.parametrize("way", ["input_tokens", "output_tokens", "cache_read_tokens"])
def test_a_count_beyond_what_can_be_counted_is_in_no_sum_and_in_no_difference(way: str) -> None:
    counts = {"input_tokens": COUNT_MAX, "output_tokens": 0, "cache_read_tokens": 0, way: 10**30}
    state = after(usage("1", **counts))
    overflow, known = Metric(cause="overflow"), Metric(value=COUNT_MAX)
    assert state.total_tokens == (known if way == "cache_read_tokens" else overflow)
    assert state.uncached_input_tokens == (known if way == "output_tokens" else overflow)


def test_more_from_a_cache_than_was_asked_is_no_uncached_count() -> None:
    state = after(usage("1", input_tokens=10, output_tokens=1, cache_read_tokens=12))
    assert state.uncached_input_tokens == Metric(cause="usage_missing")
    assert state.total_tokens == Metric(value=11)


def test_the_first_limit_that_was_reached_stays_the_one() -> None:
    stops = [
        BudgetStop(outcome=Outcome(status="limit_exceeded", reason=reason)) for reason in ("total_tokens", "duration")
    ]
    found = after(*stops).exhausted
    assert found is not None
    assert found.reason == "total_tokens"


def test_what_was_measured_last_counts_and_an_unknown_cost_stays_unknown() -> None:
    known = [Metered(active_ms=5, cost=Metric(value=1)), Metered(active_ms=9, cost=Metric(value=2))]
    assert (after(*known).active_ms, after(*known).cost) == (9, Metric(value=2))
    lost = Metric(cause="meter_error")
    state = after(*known, Metered(active_ms=10, cost=lost), Metered(active_ms=11, cost=Metric(value=3)))
    assert (state.active_ms, state.cost) == (11, lost)
