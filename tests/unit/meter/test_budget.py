"""Budgets: at least before an operation, more than after it; finishing exactly at a limit is fine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import case

from harness.meter import (
    Used,
    admitted,
    after_batch,
    after_model,
    at_end,
    at_start,
    before_batch,
    before_turn,
    in_time,
    judged_reading,
)
from harness.schema.limits import CostLimit, Limits
from harness.schema.metric import COUNT_MAX, CostReading, Metric, MetricCause
from harness.schema.outcome import Outcome


def metric(value: int | None) -> Metric:
    return Metric(cause="usage_missing") if value is None else Metric(value=value)


def tokens(total: int | None, uncached: int | None, turns: int = 0) -> Used:
    return Used(total_tokens=metric(total), uncached_input_tokens=metric(uncached), model_turns=turns)


def turn(limits: Limits, turns: int = 0, total: int | None = 0, uncached: int | None = 0) -> Outcome | None:
    return before_turn(limits, tokens(total, uncached, turns))


def model(limits: Limits, total: int | None = 0, uncached: int | None = 0) -> Outcome | None:
    return after_model(limits, tokens(total, uncached))


def batch(limits: Limits, *names: str, used: int = 0, turns: int = 1, **by_name: int) -> Outcome | None:
    return before_batch(limits, Used(tool_calls=used, model_turns=turns, by_name=by_name), names)


def test_no_turn_is_allowed_with_a_limit_of_zero() -> None:
    stop = turn(Limits(model_turns=0))
    assert stop is not None
    assert stop.name == "limit_exceeded/model_turns"


def test_the_last_allowed_turn_runs_and_the_next_does_not() -> None:
    assert turn(Limits(model_turns=2), turns=1) is None
    stop = turn(Limits(model_turns=2), turns=2)
    assert stop is not None
    assert (stop.limit, stop.observed, stop.attempted, stop.overshoot) == (2, 2, 1, 1)


def test_using_exactly_the_tokens_ends_no_turn_but_admits_no_other() -> None:
    limits = Limits(total_tokens=10)
    assert model(limits, total=10) is None
    stop = turn(limits, total=10)
    assert stop is not None
    assert (stop.name, stop.overshoot) == ("limit_exceeded/total_tokens", 0)


def test_a_reply_that_crosses_a_limit_says_by_how_much() -> None:
    stop = model(Limits(total_tokens=10), total=12)
    assert stop is not None
    assert (stop.observed, stop.overshoot) == (12, 2)
    stop = model(Limits(uncached_input_tokens=50), total=200, uncached=60)
    assert stop is not None
    assert (stop.reason, stop.overshoot) == ("uncached_input_tokens", 10)


def test_total_comes_before_uncached() -> None:
    stop = model(Limits(total_tokens=1, uncached_input_tokens=1), total=5, uncached=5)
    assert stop is not None
    assert stop.reason == "total_tokens"


@pytest.mark.parametrize("dimension", ["total_tokens", "uncached_input_tokens"])
def test_an_unknown_limited_metric_is_never_taken_for_zero(dimension: str) -> None:
    limits = Limits.model_validate({dimension: 10})
    for stop in (turn(limits, total=None, uncached=None), model(limits, total=None, uncached=None)):
        assert stop is not None
        assert (stop.reason, stop.detail) == ("metric_unavailable", f"{dimension}:usage_missing")


def test_an_unknown_metric_without_a_limit_stops_nothing() -> None:
    assert turn(Limits(), total=None, uncached=None) is None


def test_a_batch_is_refused_whole_when_it_would_cross_the_total() -> None:
    stop = batch(Limits(tool_calls=1), "a", "b")
    assert stop is not None
    assert (stop.reason, stop.observed, stop.attempted, stop.overshoot) == ("tool_calls", 0, 2, 1)
    stop = batch(Limits(tool_calls=2), "a", used=2)
    assert stop is not None
    assert (stop.observed, stop.attempted, stop.overshoot) == (2, 1, 1)


@case(49)
def test_total_is_named_before_the_name() -> None:
    stop = batch(Limits(tool_calls=1, tool_calls_by_name={"a": 1}), "a", "a")
    assert stop is not None
    assert stop.reason == "tool_calls"


@case(50, 216)
def test_names_count_exactly_as_written() -> None:
    limits = Limits(tool_calls_by_name={"read_file": 1})
    assert batch(limits, "Read_File", "Read_File") is None
    stop = batch(Limits(tool_calls_by_name={"write": 1}), "read", "write", "write")
    assert stop is not None
    assert (stop.reason, stop.detail, stop.observed, stop.attempted, stop.overshoot) == (
        "tool_calls_by_name",
        "write",
        0,
        2,
        1,
    )


@case(64)
def test_more_calls_than_one_turn_may_make_are_refused() -> None:
    stop = batch(Limits(tool_calls=100), *["a"] * 33)
    assert stop is not None
    assert stop.reason == "tool_calls_per_turn"
    assert batch(Limits(tool_calls=100), *["a"] * 32) is None


@case(61)
def test_calls_of_the_last_turn_run_unless_the_scenario_refuses_them() -> None:
    assert batch(Limits(model_turns=1), "a", turns=1) is None
    stop = batch(Limits(model_turns=1, last_turn_tools="refuse"), "a", turns=1)
    assert stop is not None
    assert stop.reason == "model_turns"
    assert batch(Limits(model_turns=2, last_turn_tools="refuse"), "a", turns=1) is None


@given(limit=st.integers(0, 50), used=st.integers(0, 50), names=st.lists(st.sampled_from(["a", "b", "c"]), max_size=40))
def test_no_accepted_batch_ever_exceeds_a_bound(limit: int, used: int, names: list[str]) -> None:
    """The sum of what was used and what is accepted stays within every bound, whatever the actor asks for."""
    limits = Limits(tool_calls=limit, tool_calls_by_name={"a": 3})
    if batch(limits, *names, used=used) is None:
        assert used + len(names) <= limit
        assert names.count("a") <= 3
        assert len(names) <= limits.tool_calls_per_turn


EVERYTHING = Limits(
    active_s=1.0,
    total_tokens=10,
    uncached_input_tokens=10,
    host_cost=CostLimit(micro=10),
    tool_calls=10,
    tool_calls_by_name={"a": 10},
    model_turns=10,
)


def spent(count: int, *, overdue: bool = False, active_ms: int | None = None) -> Used:
    """So much of every dimension; a hundred milliseconds of work stand for one."""
    metric = Metric(value=count)
    return Used(
        overdue=overdue,
        active_ms=count * 100 if active_ms is None else active_ms,
        total_tokens=metric,
        uncached_input_tokens=metric,
        cost=metric,
        tool_calls=count,
        by_name={"a": count},
        model_turns=count,
    )


ORDER = (
    ("active_s", "duration"),
    ("total_tokens", "total_tokens"),
    ("uncached_input_tokens", "uncached_input_tokens"),
    ("host_cost", "host_cost"),
    ("tool_calls", "tool_calls"),
    ("tool_calls_by_name", "tool_calls_by_name"),
    ("model_turns", "model_turns"),
)
FREE = {"active_s": None, "total_tokens": None, "uncached_input_tokens": None, "host_cost": None} | {
    "tool_calls": 1000,
    "tool_calls_by_name": {},
    "model_turns": 1000,
}


def reasons(check: Callable[[Limits, Used], Outcome | None], used: Used) -> list[str]:
    """What a boundary stops for, each time without the limits it stopped for before: its dimensions in their order."""
    found: list[str] = []
    limits = EVERYTHING
    for field, reason in ORDER:
        stop = check(limits, used)
        if stop is not None and stop.reason == reason:
            found.append(reason)
            limits = limits.model_copy(update={field: FREE[field]})
    assert check(limits, used) is None
    return found


def both(limits: Limits, used: Used) -> Outcome | None:
    return in_time(limits, used) or before_turn(limits, used)


def one_call(limits: Limits, used: Used) -> Outcome | None:
    return before_batch(limits, used, ("a",))


@pytest.mark.parametrize(
    ("check", "at", "asked"),
    [
        (at_start, 10, ["duration", "host_cost"]),
        (both, 10, ["duration", "total_tokens", "uncached_input_tokens", "host_cost", "model_turns"]),
        (one_call, 10, ["duration", "host_cost", "tool_calls", "tool_calls_by_name"]),
        (after_model, 11, ["duration", "total_tokens", "uncached_input_tokens", "host_cost"]),
        (after_batch, 11, ["duration", "host_cost"]),
        (
            at_end,
            11,
            ["duration", "total_tokens", "uncached_input_tokens", "host_cost", "tool_calls", "tool_calls_by_name"],
        ),
    ],
    ids=["start", "turn", "batch", "model", "after batch", "end"],
)
def test_a_boundary_asks_its_dimensions_in_the_order_of_the_specification(
    check: Callable[[Limits, Used], Outcome | None], at: int, asked: list[str]
) -> None:
    """Before an operation a limit stops when it is reached, after one when it is crossed; never below."""
    assert reasons(check, spent(at)) == asked
    assert reasons(check, spent(at - 1)) == []


def test_a_passed_deadline_is_told_before_the_time_at_work() -> None:
    for check in (in_time, after_model, after_batch, at_end):
        stop = check(EVERYTHING, spent(99, overdue=True))
        assert stop is not None
        assert (stop.reason, stop.detail) == ("duration", "deadline")
    stop = in_time(EVERYTHING, spent(99))
    assert stop is not None
    assert (stop.reason, stop.detail, stop.observed) == ("duration", "active_time", None)


def test_a_cost_is_told_in_its_unit() -> None:
    stop = after_model(Limits(host_cost=CostLimit(micro=100, unit="credits", currency="EUR")), Used(cost=metric(120)))
    assert stop is not None
    assert (stop.name, stop.detail, stop.observed, stop.overshoot) == (
        "limit_exceeded/host_cost",
        "credits:EUR",
        120,
        20,
    )


@pytest.mark.parametrize("check", [at_start, before_turn, one_call, after_model])
def test_what_cannot_be_known_ends_or_is_marked_as_the_scenario_says(
    check: Callable[[Limits, Used], Outcome | None],
) -> None:
    used = Used(cost=Metric(cause="meter_missing"), total_tokens=metric(None))
    stop = check(EVERYTHING, used)
    assert stop is not None
    assert (stop.reason, stop.detail) == ("metric_unavailable", "total_tokens:usage_missing")
    assert check(EVERYTHING.model_copy(update={"unknown_metric": "continue_and_mark"}), used) is None


def test_the_first_calls_of_a_turn_are_admitted_where_the_scenario_answers_the_others() -> None:
    names = ["a"] * 18
    limits = Limits(tool_calls_per_turn=16, turn_cap="answer_excess")
    assert len(admitted(limits, names)) == 16
    assert batch(limits, *names) is None
    stop = batch(limits.model_copy(update={"tool_calls": 15}), *names)
    assert stop is not None
    assert (stop.reason, stop.attempted) == ("tool_calls", 16)
    assert len(admitted(Limits(), names)) == 18


LIMIT = CostLimit(micro=100, unit="money", currency="USD")


def reading(micro: int | None, unit: str = "money", currency: str = "USD") -> CostReading:
    return CostReading(micro=micro, unit=unit, currency=currency)


@pytest.mark.parametrize(
    ("said", "before", "cause"),
    [
        ("meter_missing", None, "meter_missing"),
        ("meter_error", None, "meter_error"),
        (reading(None), None, "meter_unavailable"),
        (reading(1, unit="credits"), None, "unit_mismatch"),
        (reading(1, currency="EUR"), None, "unit_mismatch"),
        pytest.param(reading(40), Metric(value=50), "non_monotonic", marks=case(54)),
        (reading(COUNT_MAX + 1), None, "overflow"),
        (reading(-1), None, "meter_error"),
    ],
)
def test_a_reading_that_cannot_be_used_says_why_and_stays_so(
    said: CostReading | MetricCause, before: Metric | None, cause: MetricCause
) -> None:
    judged = judged_reading(said, LIMIT, before)
    assert judged == Metric(cause=cause)
    assert judged_reading(reading(60), LIMIT, judged) == judged


def test_a_reading_that_did_not_go_back_counts() -> None:
    assert judged_reading(reading(50), LIMIT, Metric(value=50)) == Metric(value=50)
    assert judged_reading(reading(COUNT_MAX), LIMIT, None) == Metric(value=COUNT_MAX)
