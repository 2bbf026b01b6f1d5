"""A pytest plugin that takes one step out of an order of checks: ``REMOVED_STEP=harness.episode.turn:TURN:T5``."""

from __future__ import annotations

import os
from importlib import import_module

__all__: list[str] = []

module, name, step = os.environ["REMOVED_STEP"].split(":")
order = import_module(module)
kept = tuple(entry for entry in getattr(order, name) if entry[0] != step)
if len(kept) == len(getattr(order, name)):
    raise LookupError(f"{name} has no step {step}")
setattr(order, name, kept)
