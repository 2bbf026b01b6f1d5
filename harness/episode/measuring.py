"""What is measured outside of the loop: time at work, and what the episode's meter says it cost.

Both differ each time, so what a boundary decides by is put into the journal first; a driver that goes on with a killed
one's episode takes it from there and decides the same.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from harness import meter
from harness.episode.world import World
from harness.schema.limits import CostLimit
from harness.schema.metric import CostReading, Metric, MetricCause
from harness.schema.record import Metered

__all__ = ["measure"]


def measure(world: World) -> None:
    """Put what was measured into the journal; nothing where the scenario limits neither time at work nor cost."""
    if not world.is_measured:
        return
    limits = world.limits
    if limits.active_s is None and limits.host_cost is None:
        return
    ahead = world.journal.ahead
    if isinstance(ahead, Metered):
        world.stopwatch.restart()
        world.record(ahead)
        return
    cost = None if limits.host_cost is None else _cost(world, limits.host_cost)
    world.record(Metered(active_ms=world.state.active_ms + world.stopwatch.lap_ms(), cost=cost))


def _cost(world: World, limit: CostLimit) -> Metric:
    before = world.state.cost
    if before is not None and before.cause is not None:
        return before
    return meter.judged_reading(_reading(world), limit, before)


def _reading(world: World) -> CostReading | MetricCause:
    """The word of the host's own meter, else of the ledger at the actor's prices."""
    if world.parts.meter is None:
        return _ledger(world)
    try:
        return world.parts.meter.read()
    except Exception:  # noqa: BLE001  (a meter is the host's, and what is wrong with it ends no run)
        return "meter_error"


def _ledger(world: World) -> CostReading | MetricCause:
    """What the attempts of this episode cost in US dollars; an actor that is no live model costs nothing."""
    spec = world.parts.job.actor
    if spec.identity.kind != "live":
        return CostReading(micro=0, unit="money", currency="USD")
    if spec.price is None:
        return "meter_missing"
    dispatched = [row for row in world.state.usage if row.status != "not_sent"]
    costs = [meter.cost(row.usage, spec.price) for row in dispatched]
    known = [cost for cost in costs if cost is not None]
    micro = int(sum(known, Decimal(0)).to_integral_value(ROUND_CEILING))
    return CostReading(micro=micro if len(known) == len(costs) else None, unit="money", currency="USD")
