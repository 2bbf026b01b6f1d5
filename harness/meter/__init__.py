"""What has been used, held against the limits at each boundary (runner specification 2.12)."""

from harness.meter.budget import after_model, before_batch, before_turn

__all__ = ["after_model", "before_batch", "before_turn"]
