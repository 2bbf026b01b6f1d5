"""How many trials a run like this one needs to find a drop, and what they take going by what it took."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from math import fsum
from statistics import median_low

from harness.qualification.planning import drop_found, trials_needed
from harness.qualification.repetition import mean
from harness.schema.actor import ActorKind
from harness.schema.money import MICRO
from harness.schema.power import ActorPower, PowerPlan
from harness.schema.qualification import ActorFigures, Trial

__all__ = ["actor_power", "expected_power", "power_plan"]

_MILLIONTH = Decimal("0.000001")


def actor_power(
    figures: ActorFigures, trials: Sequence[Trial], *, detect: float, power: float, alpha: float, expect: float | None
) -> ActorPower | None:
    """Of an actor in a run; ``expect`` is a rate that counts in the place of those there. None where nothing is judged.

    ``detect`` in (0, 1], ``power`` and ``alpha`` (two-sided) in (0, 1).
    """
    judged = [one.judged for one in figures.scenarios if one.judged.n]
    rates = [one.passes / one.n for one in judged] if expect is None else [expect] * len(figures.scenarios)
    if not rates:
        return None
    has = median_low([one.n for one in judged]) if judged else 0
    return _power(figures.run, figures.actor, figures.kind, rates, trials, has=has, asked=(detect, power, alpha))


def expected_power(scenarios: int, rate: float, *, detect: float, power: float, alpha: float) -> ActorPower:
    """Of nobody in particular who passes that often in each of so many scenarios, from 1."""
    return _power("", "", "script", [rate] * scenarios, (), has=0, asked=(detect, power, alpha))


def _power(
    run: str,
    actor: str,
    kind: ActorKind,
    rates: Sequence[float],
    trials: Sequence[Trial],
    *,
    has: int,
    asked: tuple[float, float, float],
) -> ActorPower:
    detect, power, alpha = asked
    # that a model may be better or worse costs half of alpha for each
    needed = trials_needed(rates, detect, alpha=alpha / 2, power=power)
    usd, is_lower_bound = _usd_an_episode(trials)
    seconds = [one.seconds for one in trials if one.seconds is not None]
    episodes = None if needed is None else needed * len(rates)
    return ActorPower(
        run=run,
        actor=actor,
        kind=kind,
        scenarios=len(rates),
        rate=mean(rates),
        has=has,
        low=sum(rate < detect for rate in rates),
        trials=needed,
        episodes=episodes,
        usd=_times(usd, episodes),
        is_lower_bound=is_lower_bound,
        seconds=None if not seconds or episodes is None else fsum(seconds) / len(seconds) * episodes,
        finds=drop_found(rates, has, alpha=alpha / 2, power=power) if has else None,
    )


def power_plan(actors: Sequence[ActorPower], *, detect: float, power: float, alpha: float) -> PowerPlan:
    """One number of trials for all of one or more actors, and what they take together."""
    needed = [one.trials for one in actors if one.trials is not None]
    trials = max(needed) if len(needed) == len(actors) else None
    live = [one for one in actors if one.kind == "live"]
    known = [_scaled(one, trials) for one in live]
    usd = sum((one for one in known if one is not None), Decimal(0)) if any(one is not None for one in known) else None
    seconds = [
        None if one.seconds is None or not one.episodes or trials is None
        else one.seconds / one.episodes * trials * one.scenarios
        for one in actors
    ]  # fmt: skip
    return PowerPlan(
        detect=detect,
        power=power,
        alpha=alpha,
        actors=tuple(actors),
        trials=trials,
        episodes=None if trials is None else trials * sum(one.scenarios for one in actors),
        usd=usd,
        is_lower_bound=any(one.is_lower_bound for one in live) or (usd is not None and None in known),
        seconds=None if None in seconds else fsum(one for one in seconds if one is not None),
    )


def _scaled(one: ActorPower, trials: int | None) -> Decimal | None:
    """What an actor costs with as many trials as all of them get."""
    if one.usd is None or trials is None or not one.trials:
        return None
    return (one.usd * trials / one.trials).quantize(_MILLIONTH, ROUND_FLOOR)


def _usd_an_episode(trials: Sequence[Trial]) -> tuple[Decimal | None, bool]:
    """What an episode cost, its further attempts too; and whether that is too little for some calls are unknown."""
    played = [one for one in trials if one.verdict != "not_played"]
    calls, unknown = sum(one.calls for one in played), sum(one.unknown_calls for one in played)
    if not calls or unknown == calls:
        return None, unknown > 0
    return sum((one.micro_usd for one in played), Decimal(0)) / MICRO / len(played), unknown > 0


def _times(usd: Decimal | None, episodes: int | None) -> Decimal | None:
    return None if usd is None or episodes is None else (usd * episodes).quantize(_MILLIONTH, ROUND_FLOOR)
