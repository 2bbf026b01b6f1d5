"""What ``harness compare`` tells: in plain words, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.cli.cost_told import cost_told
from harness.cli.gaps_told import rarely, rates_apart
from harness.cli.moved_told import moved_told
from harness.cli.output import folded, harmless
from harness.cli.rates_told import ENDED_EARLY, cells, head_of, letters_by_run, pass_cost, told_table
from harness.qualification.several import NAMED
from harness.schema.base import JsonValue
from harness.schema.comparison import Comparison, CostGap, Pair
from harness.schema.counting import counted, percent, worded
from harness.schema.early import EarlyStop
from harness.schema.qualification import ActorFigures
from harness.schema.run import RunView

__all__ = ["as_json", "as_rows", "as_text"]

#: So many are named.
_MOST = 3
_METHODS: dict[str, JsonValue] = {
    "decision": "permutation of labels within scenarios, exact, two-sided; corrected for all pairs (Holm)",
    "difference": "scenarios weighted by n1 n2 / (n1 + n2); Newcombe's interval over strata, 95 %",
    "course": "a look after each trial; exact, alpha spent as O'Brien and Fleming's, shared evenly by all pairs",
    "costs": "permutation of labels within scenarios, exact, of trials in the dearer half; corrected (Holm)",
    "scenarios": "exact, corrected for all scenarios (Benjamini and Hochberg): hints, no verdicts",
    "trials": "what finds a gap as wide as this one, or as the margin if wider, 8 times of 10, corrected like chances",
}
#: Where the number of trials hung on what came out: ``chance`` and ``corrected`` take it for fixed.
_LOOKED: dict[str, JsonValue] = {
    "decision": f"course: {_METHODS['course']}; what was not judged as failures must say the same",
    "difference": "over the trials that were looked at; an interval that holds whichever look was the last",
}


def as_json(
    figures: Sequence[ActorFigures], found: Comparison, costs: Sequence[CostGap], *, looked: EarlyStop | None = None
) -> JsonValue:
    """All of it, with the names of the methods; ``looked`` is how the run looked in between, where it did."""
    methods = dict(_METHODS) if looked is None else {**_METHODS, **_LOOKED}
    actors: list[JsonValue] = [one.model_dump(mode="json", exclude={"scenarios"}) for one in figures]
    whole: dict[str, JsonValue] = found.model_dump(mode="json", exclude={"contenders"})
    gaps: list[JsonValue] = [one.model_dump(mode="json") for one in costs]
    return {"methods": methods, "contenders": actors, **whole, "costs": gaps}


def as_rows(found: Comparison, costs: Sequence[CostGap]) -> Iterator[JsonValue]:
    """A line for each pair; both are named by run and actor. ``costs`` is null where no gap is known."""
    gaps = {(one.first, one.second): one for one in costs}
    for pair in found.pairs:
        sides: dict[str, JsonValue] = {
            side: found.contenders[place].model_dump(mode="json")
            for side, place in (("first", pair.first), ("second", pair.second))
        }
        row: dict[str, JsonValue] = pair.model_dump(mode="json")
        dear = gaps.get((pair.first, pair.second))
        cost: JsonValue = None if dear is None else dear.model_dump(mode="json", exclude={"first", "second"})
        yield {**row, **sides, "costs": cost}


def as_text(
    views: Mapping[str, RunView],
    figures: Sequence[ActorFigures],
    found: Comparison,
    costs: Sequence[CostGap],
    *,
    looked: EarlyStop | None = None,
) -> str:
    """A table of all, a verdict on each pair, and whether there is an order; ``looked`` as of ``as_json``."""
    letters = letters_by_run(views)
    names = [harmless(f"{letters[one.run]}{one.actor}") for one in figures]
    gaps = {(one.first, one.second): one for one in costs}
    parts = []
    if len(views) > 1:
        parts.append("\n".join(folded(f"{letters[name]}{name}") for name in views))
    parts.append(_table(figures, names))
    if looked is not None and looked.is_cut_short:
        parts.append(folded(ENDED_EARLY))
    is_looked = looked is not None
    parts += ["\n".join(_pair(pair, figures, names, found, gaps, is_looked=is_looked)) for pair in found.pairs]
    moved = [folded(said) for said in moved_told(figures, letters)]
    if moved:
        parts.append("\n".join(moved))
    if len(figures) > 2:  # noqa: PLR2004  (the verdict on a pair is its order)
        parts.append(folded(_order(names, found)))
    return "\n\n".join(parts)


def _table(figures: Sequence[ActorFigures], names: Sequence[str]) -> str:
    head = (*head_of(figures[0]), "a pass", "half within", "actor")
    rows = []
    for one, name in zip(figures, names, strict=True):
        time = "-" if one.latency.median_s is None else f"{one.latency.median_s:.2f} s"
        rows.append((*cells(one), pass_cost(one.costs), time, name))
    return told_table(head, rows)


def _pair(
    pair: Pair,
    figures: Sequence[ActorFigures],
    names: Sequence[str],
    found: Comparison,
    gaps: Mapping[tuple[int, int], CostGap],
    *,
    is_looked: bool,
) -> Iterator[str]:
    first, second = names[pair.first], names[pair.second]
    yield folded(_verdict(pair, figures, (first, second), found, is_looked=is_looked))
    left_out = [
        f"{name}: {sum(one.not_judged.values())} of {one.planned} trials were not judged"
        for one, name in ((figures[pair.first], first), (figures[pair.second], second))
        if one.not_judged
    ]
    if pair.finding == "open":
        yield folded(f"{'; '.join(left_out)}; play them (harness run --resume) before you choose", "  ")
    cost = cost_told(pair, gaps.get((pair.first, pair.second)), figures, names)
    more = (cost, _course(pair, is_looked=is_looked), _hints(pair))
    yield from (folded(said, "  ") for said in more if said is not None)


def _course(pair: Pair, *, is_looked: bool) -> str | None:
    """When looks in between decided, where they were asked for; the verdict tells it where they decide."""
    told = pair.course
    if told is None or (is_looked and told.finding is not None):
        return None
    looked = f"{told.after} of {counted(told.planned, 'planned trial')} of each scenario"
    if told.finding is None:
        return f"early looks: not decided after {looked}"
    return f"early looks: decided after {looked}; {counted(told.saved, 'trial')} of both could be saved"


def _hints(pair: Pair) -> str | None:
    """Scenarios whose rates are further apart than chance explains, the clearest first."""
    found = sorted((one for one in pair.scenarios if one.corrected <= NAMED), key=lambda one: one.corrected)
    if not found:
        return None
    counts = [
        f"{one.scenario} ({one.first_passes}/{one.first_n} and {one.second_passes}/{one.second_n})"
        for one in found[:_MOST]
    ]
    more = len(found) - len(counts)
    return f"worth a look, no verdict: {', '.join(counts)}{f' and {more} more' if more else ''}"


def _verdict(
    pair: Pair, figures: Sequence[ActorFigures], names: tuple[str, str], found: Comparison, *, is_looked: bool
) -> str:
    first, second = names
    if pair.difference is None:
        return f"{first} and {second}: no scenario was judged of both, so nothing can be said"
    both = [figures[place].judged.rate for place in (pair.first, pair.second)]
    rates, plain = [_share(rate) for rate in both], (both[1] or 0.0) - (both[0] or 0.0)
    if pair.finding in {"worse", "better"}:
        more = "less" if pair.finding == "worse" else "more"
        if is_looked and pair.course is not None:
            looked = f"{pair.course.after} of {counted(pair.course.planned, 'planned trial')} of each scenario"
            return (
                f"{second} passes {more} often than {first}: {rates[1]} against {rates[0]}, decided after {looked}. "
                f"Were all equal, at most {rarely(found.alpha)} such runs would tell any of them apart."
            )
        against = rates_apart(f"{rates[1]} against {rates[0]}", plain, pair.difference)
        return f"{second} passes {more} often than {first}: {against}. {_by_chance(pair, found, 'would')}"
    apart = rates_apart(f"{rates[0]} and {rates[1]}", plain, pair.difference)
    if pair.finding == "alike":
        return f"{first} and {second} pass equally often, within {100 * found.margin:g} points: {apart}."
    if pair.finding == "open":
        return f"{first} and {second}: what was not judged could turn it. Of what was judged {apart}."
    one_sided = pair.difference.low > 0 or pair.difference.high < 0
    # the interval is of this pair and approximate, the chance that decides is exact and of all pairs
    still = f"{_by_chance(pair, found, 'would still')} " if one_sided else ""
    return f"{first} and {second}: not enough evidence that one is better: {apart}. {still}{_needed(pair, found)}"


def _by_chance(pair: Pair, found: Comparison, would: str) -> str:
    """Of several pairs the chance is that of such a gap between any two of them."""
    if len(found.pairs) > 1:
        return f"Were all equal, a gap like this between two of them {would} come up in {_comparisons(pair)}."
    return f"Were they equal, a gap like this {would} come up in {_comparisons(pair)}."


def _comparisons(pair: Pair) -> str:
    return f"{rarely(pair.corrected)} comparisons"


def _needed(pair: Pair, found: Comparison) -> str:
    wide = max(found.margin, abs(pair.difference.effect) if pair.difference else 0)
    points = counted(max(1, round(100 * wide)), "point")
    if pair.trials is None:
        return f"A gap of {points} cannot be told with any number of trials that is in reach."
    had = min((min(one.first_n, one.second_n) for one in pair.scenarios), default=0)
    more = max(1, pair.trials - had)
    return (
        f"About {more} more {worded(more, 'trial', 'trials')} of each scenario would decide about a gap of {points}; "
        f"there {worded(had, 'is', 'are')} {had}."
    )


def _share(rate: float | None) -> str:
    return "nothing" if rate is None else percent(rate)


def _order(names: Sequence[str], found: Comparison) -> str:
    if found.order is not None:
        return f"from the best on: {', '.join(names[place] for place in found.order)}"
    unclear = [pair for pair in found.pairs if pair.finding not in {"worse", "better"}]
    if not unclear:
        return "no order is told: they did not all play the same scenarios, and who is better turns with these"
    told = ", ".join(f"{names[pair.first]} and {names[pair.second]}" for pair in unclear[:_MOST])
    return f"no order is told: nothing sets apart {told}{' and others' if len(unclear) > _MOST else ''}"
