"""What the trials of a run come to: rates with their intervals, and what stands beside them."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from harness.schema.actor import ActorKind
from harness.schema.base import Frozen, Numerous
from harness.schema.name import Code, ScenarioId
from harness.schema.verdict import Cause, Verdict

__all__ = [
    "ActorFigures",
    "Costs",
    "Difference",
    "Estimate",
    "Figures",
    "InARow",
    "Interval",
    "Latency",
    "ScenarioFigures",
    "Spread",
    "TokenCount",
    "Tokens",
    "Trial",
]


class Trial(Numerous):
    """One place of a plan and what came of it: its last attempt; ``not_played`` where there is no receipt.

    ``number`` counts the trials of its scenario and actor from 1. ``attempts`` counts all of them, ``calls`` are their
    model calls that were sent, ``unknown_calls`` those of which nobody knows the cost, ``micro_usd`` what the others
    cost, in millionths of a US dollar. ``tokens`` are those that the provider told of all these calls: of input, of
    that from a cache, of output, of that for reasoning; ``untold`` is of how many calls each is unknown. ``seconds`` is
    the wall-clock time of the last attempt. ``models`` are the names that the provider said answered it, and
    ``fingerprints`` what it said of their version, each once.
    """

    scenario: ScenarioId
    verdict: Verdict | Literal["not_played"]
    number: int = 1
    cause: Cause | None = None
    code: Code | None = None
    seconds: float | None = None
    attempts: int = 1
    calls: int = 0
    unknown_calls: int = 0
    micro_usd: Decimal = Decimal(0)
    tokens: tuple[int, int, int, int] = (0, 0, 0, 0)
    untold: tuple[int, int, int, int] = (0, 0, 0, 0)
    models: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()


class Interval(Frozen):
    """Shares between 0 and 1, ``low`` <= ``high``."""

    low: float
    high: float


class Difference(Frozen):
    """One rate less another, a share between -1 and 1, with its interval; over so many scenarios that both played."""

    effect: float
    low: float
    high: float
    scenarios: int


class Estimate(Frozen):
    """``passes`` of ``n`` trials. Without a trial there is no rate and no interval, and all three are None."""

    passes: int
    n: int
    rate: float | None
    wilson: Interval | None
    clopper_pearson: Interval | None
    is_enough: bool


class InARow(Frozen):
    """Of ``k`` trials at least one passes (``pass_at_k``), or all do (``pass_hat_k``); unbiased estimates.

    Both are None where there are fewer trials than ``k``; ``reason`` says where.
    """

    k: int
    pass_at_k: float | None
    pass_hat_k: float | None
    reason: str | None = None


class Spread(Frozen):
    """The standard error of a rate, a share, where trials of one scenario resemble each other.

    None with a ``reason`` where fewer than two scenarios have a judged trial.
    """

    standard_error: float | None
    scenarios: int
    reason: str | None = None


class Costs(Frozen):
    """US dollars of all attempts, retried ones too. None: not one call's cost is known, or there is nothing to share.

    ``is_lower_bound``: the cost of some calls is unknown, and every amount is too small.
    """

    calls: int
    calls_of_unknown_cost: int
    is_lower_bound: bool
    usd: Decimal | None
    usd_per_episode: Decimal | None
    usd_per_pass: Decimal | None


class TokenCount(Frozen):
    """Tokens of one sort. Both numbers are None where no call told them, and too small where ``untold`` calls did not.

    Unknown is never zero.
    """

    total: int | None
    per_episode: float | None
    untold: int


class Tokens(Frozen):
    """Of all attempts, retried ones too. ``cached`` are among the input, ``reasoning`` among the output."""

    calls: int
    input: TokenCount
    cached: TokenCount
    output: TokenCount
    reasoning: TokenCount


class Latency(Frozen):
    """Wall-clock seconds of judged episodes: the middle one, and the one that 95 of 100 do not exceed."""

    episodes: int
    median_s: float | None
    p95_s: float | None


class Figures(Frozen):
    """Of ``planned`` trials. ``judged`` leaves out what says nothing about the actor, ``as_failures`` counts it.

    ``not_judged`` counts that by its cause; ``pending`` and ``not_played`` are among them. ``retried`` are attempts
    that a later one replaced; none of them is a trial.
    """

    planned: int
    judged: Estimate
    as_failures: Estimate
    not_judged: dict[str, int]
    retried: int
    in_a_row: tuple[InARow, ...]


class ScenarioFigures(Figures):
    """Of one scenario."""

    scenario: ScenarioId


class ActorFigures(Figures):
    """Of one actor over all scenarios of a run. ``failure_codes`` and ``models`` have the most frequent first.

    ``in_a_row`` is the mean over scenarios. ``models`` counts the trials in which a model answered, ``fingerprints``
    those in which a version of one did. ``costs`` and ``tokens`` are None where no live model was asked.
    """

    run: str
    actor: str
    kind: ActorKind
    spread: Spread
    costs: Costs | None
    tokens: Tokens | None
    latency: Latency
    failure_codes: dict[str, int]
    models: dict[str, int]
    fingerprints: dict[str, int]
    scenarios: tuple[ScenarioFigures, ...]
