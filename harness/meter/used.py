"""What an episode used so far, as its limits are held against it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from harness.schema.limits import CostLimit, Limits
from harness.schema.metric import COUNT_MAX, CostReading, Metric, MetricCause

__all__ = ["NOTHING", "Used", "is_measured", "judged_reading"]

NOTHING = Metric(value=0)


class Used(NamedTuple):
    """Counts of an episode. ``overdue`` says that its deadline has passed; ``cost`` is None where none is limited.

    Where no limit asks for time at work, tokens or cost, ``is_measured`` is False, and they are not looked at.
    """

    overdue: bool = False
    active_ms: int = 0
    total_tokens: Metric = NOTHING
    uncached_input_tokens: Metric = NOTHING
    cost: Metric | None = None
    tool_calls: int = 0
    by_name: Mapping[str, int] = MappingProxyType({})
    model_turns: int = 0
    is_measured: bool = True


def is_measured(limits: Limits) -> bool:
    """Whether any limit asks for time at work, tokens or cost."""
    asked = limits.active_s, limits.total_tokens, limits.uncached_input_tokens, limits.host_cost
    return any(limit is not None for limit in asked)


def judged_reading(said: CostReading | MetricCause, limit: CostLimit, before: Metric | None) -> Metric:
    """What a meter's word is worth; ``before`` is what it came to last, and an unknown one stays what it is."""
    if before is not None and before.cause is not None:
        return before
    if not isinstance(said, CostReading):
        return Metric(cause=said)
    last = 0 if before is None or before.value is None else before.value
    wrong = _wrong(said, limit, last)
    return Metric(value=said.micro) if wrong is None else Metric(cause=wrong)


def _wrong(said: CostReading, limit: CostLimit, last: int) -> MetricCause | None:
    if (said.unit, said.currency) != (limit.unit, limit.currency):
        return "unit_mismatch"
    if said.micro is None:
        return "meter_unavailable"
    if said.micro > COUNT_MAX:
        return "overflow"
    if said.micro < 0:
        return "meter_error"
    return "non_monotonic" if said.micro < last else None
