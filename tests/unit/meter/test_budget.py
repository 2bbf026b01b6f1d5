"""Budgets: at least before an operation, more than after it; finishing exactly at a limit is fine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.meter import after_model, before_batch, before_turn
from harness.schema.limits import Limits
from harness.schema.outcome import Outcome


def turn(limits: Limits, turns: int = 0, total: int | None = 0, uncached: int | None = 0) -> Outcome | None:
    return before_turn(limits, model_turns=turns, total_tokens=total, uncached_input_tokens=uncached)


def model(limits: Limits, total: int | None = 0, uncached: int | None = 0) -> Outcome | None:
    return after_model(limits, total_tokens=total, uncached_input_tokens=uncached)


def batch(limits: Limits, *names: str, used: int = 0, turns: int = 1, **by_name: int) -> Outcome | None:
    return before_batch(limits, names, model_turns=turns, tool_calls=used, by_name=by_name)


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
        assert (stop.reason, stop.detail) == ("metric_unavailable", dimension)


def test_an_unknown_metric_without_a_limit_stops_nothing() -> None:
    assert turn(Limits(), total=None, uncached=None) is None


def test_a_batch_is_refused_whole_when_it_would_cross_the_total() -> None:
    stop = batch(Limits(tool_calls=1), "a", "b")
    assert stop is not None
    assert (stop.reason, stop.observed, stop.attempted, stop.overshoot) == ("tool_calls", 0, 2, 1)
    stop = batch(Limits(tool_calls=2), "a", used=2)
    assert stop is not None
    assert (stop.observed, stop.attempted, stop.overshoot) == (2, 1, 1)


def test_total_is_named_before_the_name() -> None:
    stop = batch(Limits(tool_calls=1, tool_calls_by_name={"a": 1}), "a", "a")
    assert stop is not None
    assert stop.reason == "tool_calls"


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


def test_more_calls_than_one_turn_may_make_are_refused() -> None:
    stop = batch(Limits(tool_calls=100), *["a"] * 33)
    assert stop is not None
    assert stop.reason == "tool_calls_per_turn"
    assert batch(Limits(tool_calls=100), *["a"] * 32) is None


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
