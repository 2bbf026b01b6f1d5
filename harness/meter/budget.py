"""Budgets: ``>=`` before an operation, ``>`` after it; finishing exactly at a limit is fine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.schema.limits import Limits
from harness.schema.outcome import Outcome, Reason

__all__ = ["after_model", "before_batch", "before_turn"]


def _exceeded(
    reason: Reason, limit: int, observed: int, *, attempted: int | None = None, detail: str | None = None
) -> Outcome:
    overshoot = observed + (attempted or 0) - limit
    return Outcome(
        status="limit_exceeded",
        reason=reason,
        detail=detail,
        limit=limit,
        observed=observed,
        attempted=attempted,
        overshoot=max(overshoot, 0),
    )


def _tokens(limits: Limits, total: int | None, uncached: int | None, *, after: bool) -> Outcome | None:
    dimensions: tuple[tuple[Reason, int | None, int | None], ...] = (
        ("total_tokens", limits.total_tokens, total),
        ("uncached_input_tokens", limits.uncached_input_tokens, uncached),
    )
    unknown = next((name for name, limit, used in dimensions if limit is not None and used is None), None)
    if unknown is not None:
        return Outcome(status="limit_exceeded", reason="metric_unavailable", detail=unknown)
    for name, limit, used in dimensions:
        if limit is None or used is None:
            continue
        if used > limit or (used == limit and not after):
            return _exceeded(name, limit, used)
    return None


def before_turn(
    limits: Limits, *, model_turns: int, total_tokens: int | None, uncached_input_tokens: int | None
) -> Outcome | None:
    """T5: tokens, then turns. Tool caps are not looked at: the actor may answer after its last call."""
    stop = _tokens(limits, total_tokens, uncached_input_tokens, after=False)
    if stop is not None:
        return stop
    if model_turns >= limits.model_turns:
        return _exceeded("model_turns", limits.model_turns, model_turns, attempted=1)
    return None


def after_model(limits: Limits, *, total_tokens: int | None, uncached_input_tokens: int | None) -> Outcome | None:
    """T15: a reply that crosses a limit keeps its usage; its text and calls are not used."""
    return _tokens(limits, total_tokens, uncached_input_tokens, after=True)


def before_batch(
    limits: Limits, names: Sequence[str], *, model_turns: int, tool_calls: int, by_name: dict[str, int]
) -> Outcome | None:
    """T21: all calls of a reply run or none does. Total before by-name; names count exactly as written."""
    if limits.last_turn_tools == "refuse" and model_turns >= limits.model_turns:
        return _exceeded("model_turns", limits.model_turns, model_turns, attempted=1)
    if len(names) > limits.tool_calls_per_turn:
        return _exceeded("tool_calls_per_turn", limits.tool_calls_per_turn, 0, attempted=len(names))
    if tool_calls + len(names) > limits.tool_calls:
        return _exceeded("tool_calls", limits.tool_calls, tool_calls, attempted=len(names))
    for name, count in Counter(names).items():
        limit = limits.tool_calls_by_name.get(name)
        used = by_name.get(name, 0)
        if limit is not None and used + count > limit:
            return _exceeded("tool_calls_by_name", limit, used, attempted=count, detail=name)
    return None
