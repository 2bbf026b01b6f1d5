"""What has been used and what it costs, held against limits (runner specification 2.12)."""

from harness.meter.budget import (
    admitted,
    after_batch,
    after_model,
    at_end,
    at_start,
    before_batch,
    before_turn,
    in_time,
    unknown,
)
from harness.meter.ceiling import Bound, Ceiling
from harness.meter.pace import Pace, Visitor
from harness.meter.price import UNBILLED, cost, is_inconsistent, most
from harness.meter.used import NOTHING, Used, is_measured, judged_reading
from harness.meter.window import Window

__all__ = [
    "NOTHING",
    "UNBILLED",
    "Bound",
    "Ceiling",
    "Pace",
    "Used",
    "Visitor",
    "Window",
    "admitted",
    "after_batch",
    "after_model",
    "at_end",
    "at_start",
    "before_batch",
    "before_turn",
    "cost",
    "in_time",
    "is_inconsistent",
    "is_measured",
    "judged_reading",
    "most",
    "unknown",
]
