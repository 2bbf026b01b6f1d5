"""What a policy comes to, told: in plain words, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import starmap
from typing import Final

from harness.cli.gaps_told import rarely, rates_apart
from harness.cli.output import folded, harmless
from harness.cli.rates_told import ends, line
from harness.schema.base import JsonValue
from harness.schema.counting import counted, of_all, percent, worded
from harness.schema.decision import Decision, DecisionTold, Evidence, Reason
from harness.schema.policy import Policy

__all__ = ["ANSWERS", "as_json", "as_rows", "as_text", "in_words"]

#: So many scenarios are named in a line.
_NAMED: Final = 3
ANSWERS: Final = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE", "not_judged": "NOT JUDGED"}
_METHODS: Final[Mapping[str, JsonValue]] = {
    "rate": "binomial, exact, one-sided",
    "every": "counted: nothing is inferred",
    "drop_met": "the interval of the difference (Newcombe's, over strata), one-sided, excludes a larger drop",
    "drop_missed": "permutation of labels within scenarios, exact, one-sided, and the drop itself is larger",
    "several": "met: all demands of an actor, Holm over actors; missed: Holm over all demands on all actors",
    "trials": "what tells a rate like this one, or such a drop, as often as power says",
}


def as_json(policy: Policy, where: str, decisions: Sequence[Decision]) -> dict[str, JsonValue]:
    """All of it, with the policy and the names of the methods."""
    told = list(as_rows(policy, decisions))
    read: JsonValue = policy.model_dump(mode="json")
    return {
        "policy": {"file": where, **(read if isinstance(read, dict) else {})},
        "deciding": dict(_METHODS),
        "decisions": told,
    }


def as_rows(policy: Policy, decisions: Sequence[Decision]) -> Iterator[JsonValue]:
    """A line for each actor, also ``told`` in words; its ``answer`` is what tells it from a line of rates."""
    for one in decisions:
        yield {**one.model_dump(mode="json"), "told": list(in_words(one, policy, "", one.actor).lines)}


def in_words(one: Decision, policy: Policy, where: str, who: str) -> DecisionTold:
    """The answer about an actor, called ``who``, and a sentence for each reason; ``where`` is the policy's file."""
    sentences = tuple(_sentences(one, policy))
    return DecisionTold(who=who, answer=one.answer, word=ANSWERS[one.answer], policy=where, sentences=sentences)


def as_text(told: Iterable[DecisionTold]) -> str:
    """For a terminal: each answer with its sentences below it."""
    return "\n\n".join("\n".join([folded(one.headline), *starmap(line, one.sentences)]) for one in told)


def _sentences(one: Decision, policy: Policy) -> Iterator[tuple[str, str]]:
    if one.against is not None:
        only = "" if one.against.actor == one.actor else ", the only one there"
        yield "baseline", f"{one.against.actor} of {one.against.run}{only}"
    before = None
    for reason in one.reasons:
        label = reason.demand.tier or "overall"
        yield "" if label == before else label, _sentence(reason, policy)
        before = label
    for said in _too_few(one.reasons):
        yield "trials", said
    if one.not_judged:
        yield "left out", _left_out(one, policy)
    for aside in one.set_aside:
        passed = f"{aside.passes:,} of {counted(aside.n, 'trial')} passed"
        yield "set aside", f"{aside.scenario}: {passed}; nothing is demanded of it: {aside.why}"
    if one.models_before and one.models and set(one.models) != set(one.models_before):
        was, now = ", ".join(one.models_before), ", ".join(one.models)
        yield "model", f"{now} answered, in the baseline {was}"


def _left_out(one: Decision, policy: Policy) -> str:
    number = sum(one.not_judged.values())
    causes = ", ".join(f"{cause.replace('_', ' ')} {times}" for cause, times in one.not_judged.items())
    told = f"{of_all(number, one.planned, 'trial')}: {causes}"
    if policy.not_judged.count == "fail":
        told += f"; {worded(number, 'it counts as a failure', 'they count as failures')}"
    if one.answer == "not_judged":
        return f"{told}. That is more than the {_hundredths(one.allowed)} that may be, so nothing is decided; {_PLAY}"
    is_open = any(reason.finding == "open" for reason in one.reasons)
    return f"{told}; {_PLAY}" if is_open else told


_PLAY: Final = "play them: harness run --resume RUN"


def _sentence(reason: Reason, policy: Policy) -> str:
    if reason.finding == "empty":
        return "all of its scenarios are set aside: nothing is demanded"
    told = {"rate": _rate, "every": _every, "drop": _drop}[reason.demand.kind](reason, policy)
    if reason.finding == "open":
        return f"{told}; but if what was not judged had failed, that would not be so"
    if reason.finding == "too_few":
        return f"{told}; but not each scenario has the trials that are asked for"
    return told


def _rate(reason: Reason, policy: Policy) -> str:
    found, wanted = reason.counted, _hundredths(reason.demand.wanted)
    passed = _passed(reason, policy)
    if found.finding == "met":
        return f"{passed}: at least {wanted} pass, as wanted"
    if found.finding == "missed":
        return f"{passed}: fewer than the {wanted} that are wanted"
    # rates have an interval of their own above: this one is as certain as the policy demands
    between = "" if found.between is None else _BETWEEN.format(*ends(found.between))
    return f"{passed}{between}; {wanted} are wanted. {_more_trials(reason)}"


_BETWEEN: Final = ", so at the certainty of this policy between {} % and {} % pass"


def _more_trials(reason: Reason) -> str:
    """How many more would tell the rate from the one that is wanted."""
    found = reason.counted
    if reason.trials is None:
        return "A rate so close to that cannot be told with any number of trials that is in reach."
    if reason.passes is not None:
        more = reason.passes - found.n
        return f"{more:,}{' more' if found.n else ''} {worded(more, 'pass', 'passes')} without a failure would show it."
    names = len(reason.demand.scenarios)
    more = max(1, reason.trials - found.n // names)
    return f"About {more:,} more {worded(more, 'trial', 'trials')} of each scenario would tell."


def _every(reason: Reason, policy: Policy) -> str:
    found = reason.counted
    if found.finding == "met":
        return f"{_passed(reason, policy)}, as demanded"
    if found.n == 0:
        return "no trial was judged, and every one is to pass"
    failed = [f"{name} {times}" for name, times in reason.failed.items()]
    told = of_all(found.n - found.passes, found.n, "trial")
    return f"{told} failed, and every one is to pass: {_listed(failed)}"


def _drop(reason: Reason, policy: Policy) -> str:
    found, lost = reason.counted, _points(reason.demand.wanted)
    if found.difference is None:
        return f"no scenario was judged of both, so whether more than {lost} are lost cannot be told"
    before = _share(found.baseline_passes or 0, found.baseline_n or 0)
    rates = f"{_share(found.passes, found.n)} passed, in the baseline {before}"
    plain = found.passes / (found.n or 1) - (found.baseline_passes or 0) / (found.baseline_n or 1)
    told = rates_apart(rates, plain, found.difference)
    if found.finding == "met":
        return f"{told}, so no more than {lost} are lost, as demanded"
    if found.finding == "missed":
        corrected = min(1.0, found.chance_missed * policy.alpha / found.level_missed)
        return (
            f"{told}: more than the {lost} that may be lost. Were both equal, so many fewer would come up in "
            f"{rarely(corrected)} nights."
        )
    return f"{told}; whether more than {lost} are lost cannot be told yet. {_more_of_both(reason)}"


def _more_of_both(reason: Reason) -> str:
    if reason.trials is None:
        return "No number of trials that is in reach would tell."
    return (
        f"About {reason.trials:,} {worded(reason.trials, 'trial', 'trials')} of each scenario would tell, in both runs."
    )


def _too_few(reasons: Sequence[Reason]) -> Iterator[str]:
    """Which scenarios have fewer trials than are asked for, for each number of trials that keeps something open."""
    held = [reason for reason in reasons if reason.finding == "too_few"]
    for trials in dict.fromkeys(reason.demand.trials for reason in held):
        some = [reason for reason in held if reason.demand.trials == trials]
        own = {name: n for reason in some for name, n in reason.short.items()}
        before = {name: n for reason in some for name, n in reason.short_baseline.items()}
        sides = [f"{_fewest(short)}{where}" for short, where in ((own, ""), (before, " in the baseline")) if short]
        yield f"each scenario is to have {counted(trials, 'judged trial')}: {'; '.join(sides)}"


def _fewest(short: Mapping[str, int]) -> str:
    """Each by its name, or how many they are and what the fewest is."""
    if len(short) > _NAMED:
        return f"{len(short)} scenarios have fewer, {min(short.values())} at least"
    return ", ".join(f"{name} has {n}" for name, n in short.items())


def _passed(reason: Reason, policy: Policy) -> str:
    """Of how many how many; both ways of counting, where they differ."""
    found, other = reason.counted, reason.otherwise
    if found.n == 0:
        return "no trial was judged"
    told = f"all of {counted(found.n, 'trial')} passed" if found.passes == found.n else _of(found)
    if other.n == found.n:
        return told
    way = "with those left out as failures" if policy.not_judged.count == "exclude" else "of those that were judged"
    return f"{told} ({way}: {other.passes} of {other.n})"


def _of(found: Evidence) -> str:
    return f"{found.passes:,} of {counted(found.n, 'trial')} passed"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(map(harmless, names[:_NAMED])) + (f" and {more} more" if more > 0 else "")


def _share(passes: int, n: int) -> str:
    return percent(passes / n) if n else "nothing"


def _hundredths(share: float) -> str:
    return f"{_hundred_times(share)} %"


def _points(share: float) -> str:
    points = _hundred_times(share)
    return f"{points} {'point' if points == '1' else 'points'}"


def _hundred_times(share: float) -> str:
    """With all digits that the policy says: 0.9999999 is not 100 of 100."""
    return f"{(100 * Decimal(repr(share))).normalize():f}"
