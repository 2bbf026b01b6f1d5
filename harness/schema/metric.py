"""What was measured, or why it cannot be known."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import Frozen

__all__ = ["COUNT_MAX", "CostReading", "Metric", "MetricCause", "UnitName"]

#: Largest count that survives JSON in every language (2**53 - 1).
COUNT_MAX = 2**53 - 1

#: Why a metric cannot be known: the attempt told no usable tokens; there is no meter; it has no value now; it failed;
#: it counts in another unit or currency; it went back; the count is beyond ``COUNT_MAX``.
MetricCause = Literal[
    "usage_missing",
    "meter_missing",
    "meter_unavailable",
    "meter_error",
    "unit_mismatch",
    "non_monotonic",
    "overflow",
]
UnitName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,31}$")]


class Metric(Frozen):
    """Exactly one of ``value`` (0..2**53-1) and ``cause`` is set; unknown is never zero."""

    value: int | None = None
    cause: MetricCause | None = None


class CostReading(Frozen):
    """What a host's meter says of one episode so far, in millionths of a unit; ``micro`` None: it cannot say."""

    micro: int | None
    unit: str
    currency: str
