"""Budgets: ``>=`` before an operation, ``>`` after it; finishing exactly at a limit is fine.

Each boundary asks in a fixed order (runner specification 2.12): the deadline, active time, total tokens, uncached input
tokens, cost, calls, calls by name, turns. What is unknown is asked for where the boundary's counts are first needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.meter.used import NOTHING, Used
from harness.schema.limits import Limits
from harness.schema.metric import Metric
from harness.schema.outcome import Outcome, Reason

__all__ = [
    "admitted",
    "after_batch",
    "after_model",
    "at_end",
    "at_start",
    "before_batch",
    "before_turn",
    "in_time",
    "unknown",
]

_Found = Iterator[Outcome]


def unknown(limits: Limits, used: Used) -> tuple[str, ...]:
    """The limited counts that cannot be known, each with its cause: ``total_tokens:usage_missing``."""
    limited = (
        ("total_tokens", limits.total_tokens, used.total_tokens),
        ("uncached_input_tokens", limits.uncached_input_tokens, used.uncached_input_tokens),
        ("host_cost", limits.host_cost, used.cost or NOTHING),
    )
    return tuple(f"{name}:{metric.cause}" for name, limit, metric in limited if limit is not None and metric.cause)


def at_start(limits: Limits, used: Used) -> Outcome | None:
    """E12: what is unknown, active time, cost."""
    return next(_first(_unknown(limits, used), _active(limits, used), _cost(limits, used)), None)


def in_time(limits: Limits, used: Used) -> Outcome | None:
    """T2: the deadline, then active time."""
    return next(_first(_deadline(used), _active(limits, used)), None)


def before_turn(limits: Limits, used: Used) -> Outcome | None:
    """T5: what is unknown, tokens, cost, turns; no tool caps, so the actor may answer after its last call."""
    checks = (_unknown(limits, used), _tokens(limits, used), _cost(limits, used), _turns(limits, used))
    return next(_first(*checks), None)


def before_batch(limits: Limits, used: Used, names: Sequence[str]) -> Outcome | None:
    """T21: all calls of a reply run or none does. Total before by-name; names count exactly as written."""
    turns = _turns(limits, used) if limits.last_turn_tools == "refuse" else iter(())
    found = _first(turns, _per_turn(limits, names), _unknown(limits, used), _active(limits, used), _cost(limits, used))
    return next(_first(found, _calls(limits, used, admitted(limits, names))), None)


def admitted(limits: Limits, names: Sequence[str]) -> Sequence[str]:
    """The calls of a reply that may run, whatever was used before."""
    return names[: limits.tool_calls_per_turn] if limits.turn_cap == "answer_excess" else names


def after_model(limits: Limits, used: Used) -> Outcome | None:
    """T15: a reply that crosses a limit keeps its usage; its text and calls are not used."""
    return next(
        _first(
            _deadline(used),
            _active(limits, used, after=True),
            _unknown(limits, used),
            _tokens(limits, used, after=True),
            _cost(limits, used, after=True),
        ),
        None,
    )


def after_batch(limits: Limits, used: Used) -> Outcome | None:
    """T24: time and cost."""
    return next(_first(_deadline(used), _active(limits, used, after=True), _cost(limits, used, after=True)), None)


def at_end(limits: Limits, used: Used) -> Outcome | None:
    """Before a completion counts: nothing may be above its limit."""
    return next(
        _first(
            _deadline(used),
            _active(limits, used, after=True),
            _tokens(limits, used, after=True),
            _cost(limits, used, after=True),
            _calls(limits, used, ()),
        ),
        None,
    )


def _first(*checks: _Found) -> _Found:
    for check in checks:
        yield from check


def _deadline(used: Used) -> _Found:
    if used.overdue:
        yield _timed_out("deadline")


def _active(limits: Limits, used: Used, *, after: bool = False) -> _Found:
    if limits.active_s is not None and _reached(used.active_ms, limits.active_s * 1000, after=after):
        yield _timed_out("active_time")


def _timed_out(detail: str) -> Outcome:
    """How long it took stands in the run log only: two equal episodes take different times."""
    return Outcome(status="limit_exceeded", reason="duration", detail=detail)


def _unknown(limits: Limits, used: Used) -> _Found:
    for name in unknown(limits, used) if limits.unknown_metric == "stop" else ():
        yield Outcome(status="limit_exceeded", reason="metric_unavailable", detail=name)


def _tokens(limits: Limits, used: Used, *, after: bool = False) -> _Found:
    yield from _metric("total_tokens", limits.total_tokens, used.total_tokens, after=after)
    yield from _metric("uncached_input_tokens", limits.uncached_input_tokens, used.uncached_input_tokens, after=after)


def _cost(limits: Limits, used: Used, *, after: bool = False) -> _Found:
    limit = limits.host_cost
    if limit is not None:
        unit = f"{limit.unit}:{limit.currency}"
        yield from _metric("host_cost", limit.micro, used.cost or NOTHING, after=after, detail=unit)


def _metric(reason: Reason, limit: int | None, metric: Metric, *, after: bool, detail: str | None = None) -> _Found:
    if limit is not None and metric.value is not None and _reached(metric.value, limit, after=after):
        yield _exceeded(reason, limit, metric.value, detail=detail)


def _reached(observed: int, limit: float, *, after: bool) -> bool:
    return observed > limit if after else observed >= limit


def _turns(limits: Limits, used: Used) -> _Found:
    if used.model_turns >= limits.model_turns:
        yield _exceeded("model_turns", limits.model_turns, used.model_turns, attempted=1)


def _per_turn(limits: Limits, names: Sequence[str]) -> _Found:
    if len(admitted(limits, names)) > limits.tool_calls_per_turn:
        yield _exceeded("tool_calls_per_turn", limits.tool_calls_per_turn, 0, attempted=len(names))


def _calls(limits: Limits, used: Used, names: Sequence[str]) -> _Found:
    if used.tool_calls + len(names) > limits.tool_calls:
        yield _exceeded("tool_calls", limits.tool_calls, used.tool_calls, attempted=len(names))
    counts = Counter(names)
    for name, limit in limits.tool_calls_by_name.items():
        before = used.by_name.get(name, 0)
        if before + counts[name] > limit:
            yield _exceeded("tool_calls_by_name", limit, before, attempted=counts[name], detail=name)


def _exceeded(
    reason: Reason, limit: int, observed: int, *, attempted: int | None = None, detail: str | None = None
) -> Outcome:
    overshoot = max(observed + (attempted or 0) - limit, 0)
    return Outcome(
        status="limit_exceeded",
        reason=reason,
        detail=detail,
        limit=limit,
        observed=observed,
        attempted=attempted,
        overshoot=overshoot,
    )
