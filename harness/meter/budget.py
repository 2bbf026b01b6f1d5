"""Budgets: ``>=`` before an operation, ``>`` after it; finishing exactly at a limit is fine.

Each boundary asks in a fixed order (runner specification 2.12): the deadline, active time, total tokens, uncached input
tokens, cost, calls, calls by name, turns. What is unknown is asked for where the boundary's counts are first needed.
"""

from __future__ import annotations

from collections.abc import Sequence

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


def unknown(limits: Limits, used: Used) -> tuple[str, ...]:
    """The limited counts that cannot be known, each with its cause: ``total_tokens:usage_missing``."""
    if not used.is_measured:
        return ()
    limited = (
        ("total_tokens", limits.total_tokens, used.total_tokens),
        ("uncached_input_tokens", limits.uncached_input_tokens, used.uncached_input_tokens),
        ("host_cost", limits.host_cost, used.cost or NOTHING),
    )
    return tuple(f"{name}:{metric.cause}" for name, limit, metric in limited if limit is not None and metric.cause)


def at_start(limits: Limits, used: Used) -> Outcome | None:
    """E12: what is unknown, active time, cost."""
    if not used.is_measured:
        return None
    return _unknown(limits, used) or _active(limits, used) or _cost(limits, used)


def in_time(limits: Limits, used: Used) -> Outcome | None:
    """T2: the deadline, then active time."""
    return _deadline(used) or (_active(limits, used) if used.is_measured else None)


def before_turn(limits: Limits, used: Used) -> Outcome | None:
    """T5: what is unknown, tokens, cost, turns; no tool caps, so the actor may answer after its last call."""
    stop = (_unknown(limits, used) or _tokens(limits, used) or _cost(limits, used)) if used.is_measured else None
    return stop or _turns(limits, used)


def before_batch(limits: Limits, used: Used, names: Sequence[str]) -> Outcome | None:
    """T21: all calls of a reply run or none does. Total before by-name; names count exactly as written."""
    return (
        (_turns(limits, used) if limits.last_turn_tools == "refuse" else None)
        or _per_turn(limits, names)
        or ((_unknown(limits, used) or _active(limits, used) or _cost(limits, used)) if used.is_measured else None)
        or _calls(limits, used, admitted(limits, names))
    )


def admitted(limits: Limits, names: Sequence[str]) -> Sequence[str]:
    """The calls of a reply that may run, whatever was used before."""
    return names[: limits.tool_calls_per_turn] if limits.turn_cap == "answer_excess" else names


def after_model(limits: Limits, used: Used) -> Outcome | None:
    """T15: a reply that crosses a limit keeps its usage; its text and calls are not used."""
    if used.overdue or not used.is_measured:
        return _deadline(used)
    return (
        _active(limits, used, after=True)
        or _unknown(limits, used)
        or _tokens(limits, used, after=True)
        or _cost(limits, used, after=True)
    )


def after_batch(limits: Limits, used: Used) -> Outcome | None:
    """T24: time and cost."""
    if used.overdue or not used.is_measured:
        return _deadline(used)
    return _active(limits, used, after=True) or _cost(limits, used, after=True)


def at_end(limits: Limits, used: Used) -> Outcome | None:
    """Before a completion counts: nothing may be above its limit."""
    return (
        _deadline(used)
        or _active(limits, used, after=True)
        or _tokens(limits, used, after=True)
        or _cost(limits, used, after=True)
        or _calls(limits, used, ())
    )


def _deadline(used: Used) -> Outcome | None:
    return _timed_out("deadline") if used.overdue else None


def _active(limits: Limits, used: Used, *, after: bool = False) -> Outcome | None:
    limit = limits.active_s
    return (
        _timed_out("active_time") if limit is not None and _reached(used.active_ms, limit * 1000, after=after) else None
    )


def _timed_out(detail: str) -> Outcome:
    """How long it took stands in the run log only: two equal episodes take different times."""
    return Outcome(status="limit_exceeded", reason="duration", detail=detail)


def _unknown(limits: Limits, used: Used) -> Outcome | None:
    names = unknown(limits, used) if limits.unknown_metric == "stop" else ()
    return Outcome(status="limit_exceeded", reason="metric_unavailable", detail=names[0]) if names else None


def _tokens(limits: Limits, used: Used, *, after: bool = False) -> Outcome | None:
    return _metric("total_tokens", limits.total_tokens, used.total_tokens, after=after) or _metric(
        "uncached_input_tokens", limits.uncached_input_tokens, used.uncached_input_tokens, after=after
    )


def _cost(limits: Limits, used: Used, *, after: bool = False) -> Outcome | None:
    limit = limits.host_cost
    if limit is None:
        return None
    unit = f"{limit.unit}:{limit.currency}"
    return _metric("host_cost", limit.micro, used.cost or NOTHING, after=after, detail=unit)


def _metric(
    reason: Reason, limit: int | None, metric: Metric, *, after: bool, detail: str | None = None
) -> Outcome | None:
    if limit is None or metric.value is None or not _reached(metric.value, limit, after=after):
        return None
    return _exceeded(reason, limit, metric.value, detail=detail)


def _reached(observed: int, limit: float, *, after: bool) -> bool:
    return observed > limit if after else observed >= limit


def _turns(limits: Limits, used: Used) -> Outcome | None:
    limit = limits.model_turns
    return _exceeded("model_turns", limit, used.model_turns, attempted=1) if used.model_turns >= limit else None


def _per_turn(limits: Limits, names: Sequence[str]) -> Outcome | None:
    limit = limits.tool_calls_per_turn
    too_many = len(admitted(limits, names)) > limit
    return _exceeded("tool_calls_per_turn", limit, 0, attempted=len(names)) if too_many else None


def _calls(limits: Limits, used: Used, names: Sequence[str]) -> Outcome | None:
    if used.tool_calls + len(names) > limits.tool_calls:
        return _exceeded("tool_calls", limits.tool_calls, used.tool_calls, attempted=len(names))
    for name, limit in limits.tool_calls_by_name.items():
        before, more = used.by_name.get(name, 0), names.count(name)
        if before + more > limit:
            return _exceeded("tool_calls_by_name", limit, before, attempted=more, detail=name)
    return None


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
