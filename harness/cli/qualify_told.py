"""What ``harness qualify`` tells: for a person, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.cli.moved_told import answered
from harness.cli.output import folded, harmless
from harness.cli.rates_told import (
    ENDED_EARLY,
    amount,
    cells,
    ends,
    frequent,
    head_of,
    letters_by_run,
    line,
    tokens_of,
    told_table,
)
from harness.qualification import CONFIDENCE, WIDEST
from harness.qualification.not_needed import spared
from harness.schema.base import JsonValue
from harness.schema.counting import counted, of_all, percent, worded
from harness.schema.qualification import ActorFigures, Costs, Estimate, InARow, ScenarioFigures, Spread, Tokens
from harness.schema.run import RunView

__all__ = ["as_json", "as_rows", "as_text"]

_METHODS: dict[str, JsonValue] = {
    "confidence": CONFIDENCE,
    "pass_at_k": "unbiased: 1 - C(n-c,k)/C(n,k), the mean over scenarios",
    "pass_hat_k": "unbiased: C(c,k)/C(n,k), the mean over scenarios",
    "standard_error": "clustered by scenario, times the root of C/(C-1)",
    "enough": f"the Wilson interval spans at most {WIDEST}",
}
_NOTHING_MORE: Mapping[str, JsonValue] = {}


def as_json(
    views: Mapping[str, RunView], told: Sequence[ActorFigures], more: Mapping[str, JsonValue] = _NOTHING_MORE
) -> JsonValue:
    """All of it, with the names of the methods, and ``more`` behind it."""
    runs: list[JsonValue] = [
        {
            "run": name,
            "run_id": view.manifest.run_id,
            "state": view.manifest.state,
            "planned": len(view.manifest.plan) - spared(view),
            "calls_without_a_receipt": view.beyond.calls,
            **({} if view.manifest.early is None else {"early": view.manifest.early.model_dump(mode="json")}),
        }
        for name, view in views.items()
    ]
    actors: list[JsonValue] = [one.model_dump(mode="json") for one in told]
    return {"methods": dict(_METHODS), "runs": runs, "actors": actors, **more}


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
    letters = letters_by_run(views)
    parts = ["\n".join(_run(letters[name], name, view) for name, view in views.items())]
    if len(told) > 1:
        parts.append(_side_by_side(told, letters))
    parts += [_actor(one, letters) for one in told]
    if any(view.manifest.early is not None and view.manifest.early.is_cut_short for view in views.values()):
        parts.append(folded(ENDED_EARLY))
    rates = [rate.judged for one in told for rate in (one, *one.scenarios)]
    if not all(rate.is_enough for rate in rates):
        apart = round(100 * WIDEST)
        parts.append(folded(f"not enough to tell: the ends of the interval are more than {apart} points apart"))
    return "\n\n".join(parts)


def _run(letter: str, name: str, view: RunView) -> str:
    fewer = spared(view)
    planned = len(view.manifest.plan) - fewer
    state = "" if view.manifest.state == "complete" else f" ({view.manifest.state})"
    less = f" and {fewer} more not needed" if fewer else ""
    more = view.beyond.calls
    apart = f"; {counted(more, 'model call')} of no episode here {worded(more, 'is', 'are')} left out" if more else ""
    planes = ", ".join(plane.ref for plane in view.manifest.planes)
    return folded(f"{letter}{name}{state}: {counted(planned, 'trial')} planned{less}, {planes}{apart}")


def _side_by_side(told: Sequence[ActorFigures], letters: Mapping[str, str]) -> str:
    passes = [amount(one.costs, None if one.costs is None else one.costs.usd_per_pass) for one in told]
    rows = [(*cells(one), cost, f"{letters[one.run]}{one.actor}") for one, cost in zip(told, passes, strict=True)]
    return told_table((*head_of(told[0]), "a pass", "actor"), rows)


def _actor(one: ActorFigures, letters: Mapping[str, str]) -> str:
    lines = [harmless(f"{letters[one.run]}{one.actor}"), *(line(label, said) for label, said in _sentences(one))]
    rows = [(*cells(scenario), scenario.scenario) for scenario in one.scenarios]
    return "\n".join((*lines, "", told_table((*head_of(one), "scenario"), rows)))


def _sentences(one: ActorFigures) -> Iterator[tuple[str, str]]:
    yield "passed", _rate(one.judged)
    if one.not_judged:
        causes = ", ".join(f"{cause.replace('_', ' ')} {times}" for cause, times in one.not_judged.items())
        yield "left out", f"{of_all(sum(one.not_judged.values()), one.planned, 'trial')}: {causes}"
        yield "as failures", _rate(one.as_failures)
    if one.retried:
        yield "retried", f"{counted(one.retried, 'attempt')} played again; none of them is a trial"
    yield "in a row", _repeated(one.in_a_row[-1], one.scenarios)
    yield "spread", _spread(one.spread)
    if one.costs is not None:
        yield "cost", _spent(one.costs)
    if one.costs is not None and one.costs.is_lower_bound:
        unknown, calls = one.costs.calls_of_unknown_cost, counted(one.costs.calls, "model call")
        yield "", f"nobody knows the cost of {unknown} of {calls}"
    if one.latency.median_s is not None and one.latency.p95_s is not None:
        yield "time", f"half within {one.latency.median_s:.2f} s, 95 of 100 within {one.latency.p95_s:.2f} s"
    if one.tokens is not None:
        yield "tokens", _tokens(one.tokens)
    if one.failure_codes:
        yield "failed with", frequent(one.failure_codes)
    if one.kind == "live":
        yield "answered by", answered(one)


def _rate(rate: Estimate) -> str:
    if rate.wilson is None:
        return "no trial was judged: not enough to tell"
    enough = "" if rate.is_enough else ", not enough to tell"
    low, high = ends(rate.wilson)
    return f"of {counted(rate.n, 'trial')} {rate.passes:,} passed: between {low} % and {high} %{enough}"


def _repeated(row: InARow, scenarios: Sequence[ScenarioFigures]) -> str:
    if row.pass_hat_k is None or row.pass_at_k is None:
        few = (
            f"{one.scenario} has {counted(one.judged.n, 'judged trial')}" for one in scenarios if one.judged.n < row.k
        )
        return f"not known for {counted(row.k, 'trial')}: {next(few, row.reason)}"
    if row.k == 1:
        return f"one trial passes: {percent(row.pass_hat_k)}, the mean over scenarios"
    return (
        f"all of {row.k} pass: {percent(row.pass_hat_k)} (pass^{row.k}); "
        f"at least one: {percent(row.pass_at_k)} (pass@{row.k})"
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
    episode, each = (amount(costs, usd) for usd in (costs.usd_per_episode, costs.usd_per_pass))
    return f"{episode} an episode, {'nothing passed' if costs.usd_per_pass is None else f'{each} a pass'}"


def _tokens(tokens: Tokens) -> str:
    """Of an episode; of parts only those that the provider told."""
    if tokens.input.total is None and tokens.output.total is None:
        return "not told by its provider"
    cached, reasoning = (
        "" if part.total is None else f" ({tokens_of(part)} {word})"
        for part, word in ((tokens.cached, "of them cached"), (tokens.reasoning, "of them reasoning"))
    )
    given, made = ("unknown" if part.total is None else tokens_of(part) for part in (tokens.input, tokens.output))
    return f"input {given}{cached}, output {made}{reasoning} an episode"
