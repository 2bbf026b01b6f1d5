"""What ``harness qualify`` tells: for a person, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from itertools import count
from math import ceil, floor
from string import ascii_uppercase

from harness.cli.output import folded, harmless, table
from harness.qualification import CONFIDENCE, WIDEST
from harness.schema.base import JsonValue
from harness.schema.counting import counted, of_all, worded
from harness.schema.qualification import ActorFigures, Costs, Estimate, Figures, InARow, Interval, Spread
from harness.schema.run import RunView

__all__ = ["as_json", "as_rows", "as_text"]

#: So many codes and models are told.
_NAMED = 3
_LABEL = 14
_NOTHING = "-"
#: Three digits, rounded down, so that a lower bound stays one.
_THREE = Context(prec=3, rounding=ROUND_FLOOR)
_METHODS: dict[str, JsonValue] = {
    "confidence": CONFIDENCE,
    "pass_at_k": "unbiased: 1 - C(n-c,k)/C(n,k), the mean over scenarios",
    "pass_hat_k": "unbiased: C(c,k)/C(n,k), the mean over scenarios",
    "standard_error": "clustered by scenario, times the root of C/(C-1)",
    "enough": f"the Wilson interval spans at most {WIDEST}",
}


def as_json(views: Mapping[str, RunView], told: Sequence[ActorFigures]) -> JsonValue:
    """All of it, with the names of the methods."""
    runs: list[JsonValue] = [
        {
            "run": name,
            "run_id": view.manifest.run_id,
            "state": view.manifest.state,
            "planned": len(view.manifest.plan),
            "calls_without_a_receipt": view.beyond.calls,
        }
        for name, view in views.items()
    ]
    actors: list[JsonValue] = [one.model_dump(mode="json") for one in told]
    return {"methods": dict(_METHODS), "runs": runs, "actors": actors}


def as_rows(told: Sequence[ActorFigures]) -> Iterator[JsonValue]:
    """A line for each actor, whose scenario is null, and one for each of its scenarios."""
    for one in told:
        who: dict[str, JsonValue] = {"run": one.run, "actor": one.actor}
        yield {**who, "scenario": None, **one.model_dump(mode="json", exclude={"scenarios", *who})}
        for scenario in one.scenarios:
            row: dict[str, JsonValue] = scenario.model_dump(mode="json", exclude={"scenario"})
            yield {**who, "scenario": scenario.scenario, **row}


def as_text(views: Mapping[str, RunView], told: Sequence[ActorFigures]) -> str:
    """In plain words; where several actors are told a table holds them side by side."""
    letters = dict(zip(views, _letters(), strict=False)) if len(views) > 1 else dict.fromkeys(views, "")
    parts = ["\n".join(_run(letters[name], name, view) for name, view in views.items())]
    if len(told) > 1:
        parts.append(_side_by_side(told, letters))
    parts += [_actor(one, letters) for one in told]
    rates = [rate.judged for one in told for rate in (one, *one.scenarios)]
    if not all(rate.is_enough for rate in rates):
        apart = round(100 * WIDEST)
        parts.append(folded(f"not enough to tell: the ends of the interval are more than {apart} points apart"))
    return "\n\n".join(parts)


def _letters() -> Iterator[str]:
    """A, B and so on to Z, then numbers: names of folders are too long for a table."""
    yield from (f"{letter} " for letter in ascii_uppercase)
    yield from (f"{number} " for number in count(len(ascii_uppercase) + 1))


def _run(letter: str, name: str, view: RunView) -> str:
    planned = len(view.manifest.plan)
    state = "" if view.manifest.state == "complete" else f" ({view.manifest.state})"
    more = view.beyond.calls
    apart = f"; {counted(more, 'model call')} of no episode here {worded(more, 'is', 'are')} left out" if more else ""
    planes = ", ".join(plane.ref for plane in view.manifest.planes)
    return folded(f"{letter}{name}{state}: {counted(planned, 'trial')} planned, {planes}{apart}")


def _side_by_side(told: Sequence[ActorFigures], letters: Mapping[str, str]) -> str:
    passes = [_amount(one.costs, None if one.costs is None else one.costs.usd_per_pass) for one in told]
    rows = [(*_cells(one), cost, f"{letters[one.run]}{one.actor}") for one, cost in zip(told, passes, strict=True)]
    return _table((*_head(told[0]), "a pass", "actor"), rows)


def _actor(one: ActorFigures, letters: Mapping[str, str]) -> str:
    lines = [harmless(f"{letters[one.run]}{one.actor}"), *(_line(label, said) for label, said in _sentences(one))]
    rows = [(*_cells(scenario), scenario.scenario) for scenario in one.scenarios]
    return "\n".join((*lines, "", _table((*_head(one), "scenario"), rows)))


def _head(one: Figures) -> tuple[str, ...]:
    return ("passed", "between", "enough", f"all of {one.in_a_row[-1].k}", "left out")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Without the columns that say nothing."""
    kept = [place for place in range(len(head)) if any(row[place] != _NOTHING for row in rows)]
    return table([head[place] for place in kept], [[row[place] for place in kept] for row in rows])


def _line(label: str, said: str) -> str:
    indent = " " * _LABEL
    return f"  {label:<{_LABEL - 2}}" + folded(said, indent).removeprefix(indent)


def _sentences(one: ActorFigures) -> Iterator[tuple[str, str]]:
    yield "passed", _rate(one.judged)
    if one.not_judged:
        causes = ", ".join(f"{cause.replace('_', ' ')} {times}" for cause, times in one.not_judged.items())
        yield "left out", f"{of_all(sum(one.not_judged.values()), one.planned, 'trial')}: {causes}"
        yield "as failures", _rate(one.as_failures)
    if one.retried:
        yield "retried", f"{counted(one.retried, 'attempt')} played again; none of them is a trial"
    yield "in a row", _repeated(one.in_a_row[-1])
    yield "spread", _spread(one.spread)
    if one.costs is not None:
        yield "cost", _spent(one.costs)
    if one.costs is not None and one.costs.is_lower_bound:
        unknown, calls = one.costs.calls_of_unknown_cost, counted(one.costs.calls, "model call")
        yield "", f"nobody knows the cost of {unknown} of {calls}"
    if one.latency.median_s is not None and one.latency.p95_s is not None:
        yield "time", f"half within {one.latency.median_s:.2f} s, 95 of 100 within {one.latency.p95_s:.2f} s"
    if one.failure_codes:
        yield "failed with", _counts(one.failure_codes)
    if one.kind == "live":
        yield "answered by", _counts(one.models) if one.models else "not told by its provider"


def _rate(rate: Estimate) -> str:
    if rate.wilson is None:
        return "no trial was judged: not enough to tell"
    enough = "" if rate.is_enough else ", not enough to tell"
    low, high = _ends(rate.wilson)
    return f"of {counted(rate.n, 'trial')} {rate.passes} passed: between {low} % and {high} %{enough}"


def _cells(one: Figures) -> tuple[str, ...]:
    rate, row = one.judged, one.in_a_row[-1]
    between = _NOTHING if rate.wilson is None else "-".join(map(str, _ends(rate.wilson))) + " %"
    left_out = sum(one.not_judged.values())
    return (
        f"{rate.passes}/{rate.n}",
        between,
        "yes" if rate.is_enough else "no",
        _NOTHING if row.pass_hat_k is None else _percent(row.pass_hat_k),
        str(left_out) if left_out else _NOTHING,
    )


def _repeated(row: InARow) -> str:
    if row.pass_hat_k is None or row.pass_at_k is None:
        return f"not known for {counted(row.k, 'trial')}: {row.reason}"
    if row.k == 1:
        return f"one trial passes: {_percent(row.pass_hat_k)}, the mean over scenarios"
    return (
        f"all of {row.k} pass: {_percent(row.pass_hat_k)} (pass^{row.k}); "
        f"at least one: {_percent(row.pass_at_k)} (pass@{row.k})"
    )


def _spread(spread: Spread) -> str:
    if spread.standard_error is None:
        return f"not known: {spread.reason}"
    if spread.standard_error == 0:
        return f"none: all {spread.scenarios} scenarios have the same rate"
    return f"standard error {100 * spread.standard_error:.1f} points over {spread.scenarios} scenarios"


def _spent(costs: Costs) -> str:
    if costs.usd is None:
        return "unknown"
    episode, each = (_amount(costs, amount) for amount in (costs.usd_per_episode, costs.usd_per_pass))
    return f"{episode} an episode, {'nothing passed' if costs.usd_per_pass is None else f'{each} a pass'}"


def _amount(costs: Costs | None, amount: Decimal | None) -> str:
    if costs is None or amount is None:
        return _NOTHING
    precise = amount.quantize(Decimal("0.01"), ROUND_FLOOR) if amount >= 1 else _THREE.plus(amount).normalize()
    return f"{'>= ' if costs.is_lower_bound else ''}${precise:f}"


def _counts(counts: Mapping[str, int]) -> str:
    named = list(counts.items())
    more = len(named) - _NAMED
    told = ", ".join(f"{harmless(name)} {times}" for name, times in named[:_NAMED])
    return f"{told} and {more} more" if more > 0 else told


def _ends(interval: Interval) -> tuple[int, int]:
    """Whole hundredths that hold the interval; what floating point adds to a whole number is no hundredth more."""
    return floor(round(100 * interval.low, 9)), ceil(round(100 * interval.high, 9))


def _percent(share: float) -> str:
    """A whole number, which is 0 and 100 only where the share is."""
    whole = round(100 * share)
    if whole in {0, 100} and share not in {0.0, 1.0}:
        return "< 1 %" if whole == 0 else "> 99 %"
    return f"{whole} %"
