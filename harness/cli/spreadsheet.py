"""Rates, costs and times of actors as CSV, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from harness import catalog
from harness.schema.qualification import ActorFigures, Figures, TokenCount

__all__ = ["as_csv"]

_Cell = str | int | float | Decimal | bool | None


def as_csv(figures: Sequence[ActorFigures], *, by_scenario: bool = False) -> str:
    """A row for each actor, with ``by_scenario`` one for each of its scenarios below it; what is unknown is empty."""
    rows = []
    for one in figures:
        who: dict[str, _Cell] = {"run": one.run, "actor": one.actor}
        rows.append({**who, **({"scenario": None} if by_scenario else {}), **_rates(one), **_more(one)})
        if by_scenario:
            rows += [{**who, "scenario": some.scenario, **_rates(some)} for some in one.scenarios]
    text: str = catalog.shared("reporters", "csv_text").csv_text(tuple(rows[0]), rows)
    return text


def _rates(one: Figures) -> dict[str, _Cell]:
    rate, row = one.judged, one.in_a_row[-1]
    score, exact = rate.wilson, rate.clopper_pearson
    return {
        "planned": one.planned,
        "judged": rate.n,
        "passed": rate.passes,
        "rate": rate.rate,
        "wilson_low": score and score.low,
        "wilson_high": score and score.high,
        "exact_low": exact and exact.low,
        "exact_high": exact and exact.high,
        "enough": rate.is_enough,
        "in_a_row": row.k,
        "all_pass": row.pass_hat_k,
        "one_passes": row.pass_at_k,
        "not_judged": sum(one.not_judged.values()),
        "not_judged_by_cause": _named(one.not_judged),
        "retried": one.retried,
    }


def _more(one: ActorFigures) -> dict[str, _Cell]:
    costs, tokens = one.costs, one.tokens
    return {
        "kind": one.kind,
        "standard_error": one.spread.standard_error,
        "usd": costs and costs.usd,
        "usd_per_episode": costs and costs.usd_per_episode,
        "usd_per_pass": costs and costs.usd_per_pass,
        "cost_is_lower_bound": costs and costs.is_lower_bound,
        "median_s": one.latency.median_s,
        "p95_s": one.latency.p95_s,
        **_tokens("input", tokens and tokens.input),
        **_tokens("cached", tokens and tokens.cached),
        **_tokens("output", tokens and tokens.output),
        **_tokens("reasoning", tokens and tokens.reasoning),
        "failure_codes": _named(one.failure_codes),
        "models": _named(one.models),
        "fingerprints": _named(one.fingerprints),
    }


def _tokens(sort: str, count: TokenCount | None) -> dict[str, _Cell]:
    return {
        f"{sort}_tokens_per_episode": count and count.per_episode,
        f"{sort}_tokens_unknown_calls": count and count.untold,
    }


def _named(counts: dict[str, int]) -> str:
    return "; ".join(f"{name} {times}" for name, times in counts.items())
