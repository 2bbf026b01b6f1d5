"""What a run like this one takes with as many trials as find a drop."""

from __future__ import annotations

from decimal import Decimal

from harness.qualification import actor_figures
from harness.qualification.power import actor_power
from harness.schema.qualification import Trial


def test_what_was_not_played_makes_no_episode_cheaper() -> None:
    episode = Trial(scenario="pack/a", verdict="pass", calls=1, micro_usd=Decimal(2_000_000), seconds=3.0)
    trials = [episode] * 10 + [Trial(scenario="pack/a", verdict="not_played")] * 10
    figures = actor_figures("run", "big", "live", trials, most=1)
    found = actor_power(figures, trials, detect=0.5, power=0.8, alpha=0.05, expect=None)
    assert found is not None
    assert found.episodes is not None
    assert (found.usd, found.seconds) == (Decimal("2.0000") * found.episodes, 3.0 * found.episodes)
