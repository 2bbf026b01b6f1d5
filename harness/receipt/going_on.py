"""What to type to go on with a run: accepted as it is printed."""

from __future__ import annotations

import shlex
from decimal import Decimal
from pathlib import Path

from harness.schema.run import Manifest

__all__ = ["go_on"]


def go_on(folder: Path, manifest: Manifest, *more: str, most: Decimal | None = None) -> str:
    """The command that goes on with a run as it was bounded; ``most`` is another bound, in US dollars."""
    bound = manifest.max_cost_usd if most is None else most
    live = any(actor.kind == "live" for actor in manifest.actors)
    spend = () if not live else ("--yes-spend",) if bound is None else ("--max-cost", f"{bound:f}")
    return f"harness run --resume {shlex.join((str(folder), *more, *spend))}"
