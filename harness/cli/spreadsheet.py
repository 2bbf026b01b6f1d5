"""Rates, costs and times of actors as CSV, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from harness import catalog
from harness.schema.qualification import ActorFigures, Figures

__all__ = ["as_csv"]

_Cell = str | int | float | Decimal | bool | None

_NOTHING_DECIDED: Final[Mapping[tuple[str, str], str]] = {}
_RATES: Final = (
    *("planned", "judged", "passed", "rate", "wilson_low", "wilson_high", "exact_low", "exact_high", "enough"),
    *("in_a_row", "all_pass", "one_passes", "not_judged", "not_judged_by_cause", "retried"),
)
_SORTS: Final = ("input", "cached", "output", "reasoning")
_MORE: Final = (
    *("kind", "standard_error", "usd", "usd_per_episode", "usd_per_pass", "cost_is_lower_bound", "median_s", "p95_s"),
    *(f"{sort}_tokens_{what}" for sort in _SORTS for what in ("per_episode", "unknown_calls")),
    *("failure_codes", "models", "fingerprints"),
)


def as_csv(
    figures: Sequence[ActorFigures],
    *,
    by_scenario: bool = False,
    decided: Mapping[tuple[str, str], str] = _NOTHING_DECIDED,
) -> str:
    """A row for each actor, with ``by_scenario`` one for each of its scenarios below it; what is unknown is empty.

    ``decided`` is what a policy says, by run and actor; without it there is no such column.
    """
    rows: list[dict[str, _Cell]] = []
    for one in figures:
        who: dict[str, _Cell] = {"run": one.run, "actor": one.actor}
        rows.append({**who, **_rates(one), **_more(one), "decision": decided.get((one.run, one.actor))})
        if by_scenario:
            rows += [{**who, "scenario": some.scenario, **_rates(some)} for some in one.scenarios]
    head = (
        "run",
        "actor",
        *(("scenario",) if by_scenario else ()),
        *_RATES,
        *_MORE,
        *(("decision",) if decided else ()),
    )
    text: str = catalog.shared("reporters", "csv_text").csv_text(head, rows)
    return text


def _rates(one: Figures) -> dict[str, _Cell]:
    rate, row = one.judged, one.in_a_row[-1]
    found: dict[str, _Cell] = {
        "planned": one.planned,
        "judged": rate.n,
        "passed": rate.passes,
        "rate": rate.rate,
        "enough": rate.is_enough,
        "in_a_row": row.k,
        "all_pass": row.pass_hat_k,
        "one_passes": row.pass_at_k,
        "not_judged": sum(one.not_judged.values()),
        "not_judged_by_cause": _named(one.not_judged),
        "retried": one.retried,
    }
    for name, interval in (("wilson", rate.wilson), ("exact", rate.clopper_pearson)):
        if interval is not None:
            found |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return found


def _more(one: ActorFigures) -> dict[str, _Cell]:
    found: dict[str, _Cell] = {
        "kind": one.kind,
        "standard_error": one.spread.standard_error,
        "median_s": one.latency.median_s,
        "p95_s": one.latency.p95_s,
        "failure_codes": _named(one.failure_codes),
        "models": _named(one.models),
        "fingerprints": _named(one.fingerprints),
    }
    if one.costs is not None:
        found |= {
            "usd": one.costs.usd,
            "usd_per_episode": one.costs.usd_per_episode,
            "usd_per_pass": one.costs.usd_per_pass,
            "cost_is_lower_bound": one.costs.is_lower_bound,
        }
    if one.tokens is not None:
        told = (one.tokens.input, one.tokens.cached, one.tokens.output, one.tokens.reasoning)
        for sort, count in zip(_SORTS, told, strict=True):
            found |= {f"{sort}_tokens_per_episode": count.per_episode, f"{sort}_tokens_unknown_calls": count.untold}
    return found


def _named(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{name} {times}" for name, times in counts.items())
