"""What a policy comes to: known answers, and what must hold of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.qualification.deciding import Candidate, decide
from harness.schema.base import JsonValue
from harness.schema.comparison import Contender
from harness.schema.decision import Answer, Decision, Demand
from harness.schema.policy import Policy
from harness.schema.qualification import Trial

#: Passes, failures, and trials that were not judged.
Counts = tuple[int, int, int]


def trials(*scenarios: Counts) -> list[Trial]:
    found = []
    for number, (passes, failures, left_out) in enumerate(scenarios):
        name = f"pack/s{number}"
        found += [Trial(scenario=name, verdict="pass")] * passes + [Trial(scenario=name, verdict="fail")] * failures
        found += [Trial(scenario=name, verdict="not_judged", cause="provider")] * left_out
    return found


def policy(**said: JsonValue) -> Policy:
    return Policy.model_validate({"schema": 1, **said})


def rate(wanted: float, scenarios: int = 1, *, tier: str | None = None, least: int = 1) -> Demand:
    names = tuple(f"pack/s{number}" for number in range(scenarios))
    return Demand(tier=tier, kind="rate", scenarios=names, wanted=wanted, trials=least)


def every(scenarios: int = 1, *, least: int = 1) -> Demand:
    return rate(1.0, scenarios, least=least).model_copy(update={"kind": "every"})


def drop(margin: float, scenarios: int = 1, *, least: int = 1) -> Demand:
    return rate(margin, scenarios, least=least).model_copy(update={"kind": "drop"})


def candidate(some: Sequence[Trial], *demands: Demand, baseline: Sequence[Trial] = ()) -> Candidate:
    against = Contender(run="last", actor="steady") if baseline else None
    return Candidate(run="night", actor="steady", trials=some, demands=demands, against=against, baseline=baseline)


def one(some: Candidate, by: Policy) -> Decision:
    (found,) = decide([some], by)
    return found


def test_what_was_not_judged_of_the_baseline_never_makes_it_easier_to_match() -> None:
    asked = candidate(trials((10, 10, 0)), drop(0.05), baseline=trials((10, 0, 10)))
    for count in ("exclude", "fail"):
        (reason,) = one(asked, policy(not_judged={"count": count, "most": 1.0})).reasons
        assert (reason.counted.baseline_passes, reason.counted.baseline_n, reason.finding) == (10, 10, "missed")


@pytest.mark.parametrize(
    ("passes", "failures", "wanted", "answer", "more"),
    [
        (5, 0, 0.95, "inconclusive", 59),
        (58, 0, 0.95, "inconclusive", 59),
        (59, 0, 0.95, "pass", None),
        (298, 0, 0.99, "inconclusive", 299),
        (299, 0, 0.99, "pass", None),
        (0, 5, 0.5, "fail", None),
        (0, 4, 0.5, "inconclusive", 5),
        (0, 0, 0.95, "inconclusive", 59),
    ],
)
def test_a_rate_is_met_or_missed_only_where_that_is_shown(
    passes: int, failures: int, wanted: float, answer: Answer, more: int | None
) -> None:
    found = one(candidate(trials((passes, failures, 0)), rate(wanted)), policy())
    assert (found.answer, found.reasons[0].trials) == (answer, more)


def test_trials_that_are_missing_are_shared_by_scenarios() -> None:
    found = one(candidate(trials((2, 0, 0), (3, 0, 0)), rate(0.95, 2)), policy())
    assert (found.reasons[0].trials, found.reasons[0].passes) == (30, 59)


@pytest.mark.parametrize(
    ("counts", "answer"), [((5, 0, 0), "pass"), ((500, 1, 0), "fail"), ((0, 0, 0), "inconclusive")]
)
def test_where_every_trial_is_to_pass_they_are_counted(counts: Counts, answer: Answer) -> None:
    found = one(candidate(trials(counts), every()), policy())
    assert found.answer == answer
    assert found.reasons[0].failed == ({"pack/s0": 1} if counts[1] else {})


@pytest.mark.parametrize(
    ("own", "baseline", "answer"),
    [
        ([(30, 0, 0)] * 3, [(30, 0, 0)] * 3, "pass"),
        ([(10, 0, 0)] * 3, [(10, 0, 0)] * 3, "inconclusive"),
        ([(5, 5, 0)] * 3, [(10, 0, 0)] * 3, "fail"),
        ([(9, 1, 0)] * 3, [(10, 0, 0)] * 3, "inconclusive"),
        # a drop that is surely one, and surely no larger than may be lost
        ([(970, 30, 0)] * 2, [(990, 10, 0)] * 2, "pass"),
        # surely a drop, but whether it is larger than that nobody can tell
        ([(960, 40, 0)], [(993, 7, 0)], "pass"),
        ([(186, 14, 0)], [(195, 5, 0)], "inconclusive"),
    ],
)
def test_a_drop_beyond_the_margin_is_shown_or_excluded(
    own: list[Counts], baseline: list[Counts], answer: Answer
) -> None:
    found = one(candidate(trials(*own), drop(0.05, len(own)), baseline=trials(*baseline)), policy())
    assert found.answer == answer
    assert (found.reasons[0].trials is not None) == (answer == "inconclusive")


def test_a_demand_is_only_about_its_scenarios() -> None:
    some = trials((60, 0, 0), (0, 60, 0))
    assert one(candidate(some, rate(0.95)), policy()).answer == "pass"
    assert one(candidate(some, rate(0.95, 2)), policy()).answer == "fail"


@pytest.mark.parametrize("least", [9, 10, 11])
def test_nothing_passes_before_each_scenario_has_its_trials(least: int) -> None:
    some = candidate(trials((100, 0, 0), (10, 0, 0)), rate(0.5, 2, least=least))
    found = one(some, policy())
    assert found.answer == ("pass" if least <= 10 else "inconclusive")
    assert found.reasons[0].short == ({} if least <= 10 else {"pack/s1": 10})
    # what a baseline never played is nothing that could be kept
    old = trials((100, 0, 0), (0, 0, 3))
    lost = one(candidate(trials((100, 0, 0), (100, 0, 0)), drop(0.1, 2), baseline=old), policy())
    assert (lost.answer, lost.reasons[0].short_baseline) == ("inconclusive", {"pack/s1": 0})


def test_what_was_not_judged_is_counted_in_both_ways() -> None:
    open_one = one(candidate(trials((60, 0, 6)), rate(0.95)), policy())
    assert (open_one.answer, open_one.reasons[0].finding) == ("inconclusive", "open")
    assert (open_one.reasons[0].counted.finding, open_one.reasons[0].otherwise.finding) == ("met", "undecided")
    assert one(candidate(trials((300, 0, 6)), rate(0.95)), policy()).answer == "pass"
    failed = policy(not_judged={"count": "fail"})
    assert one(candidate(trials((60, 0, 60)), rate(0.95)), failed).answer == "fail"
    assert one(candidate(trials((60, 0, 1)), every()), failed).answer == "fail"
    assert one(candidate(trials((60, 0, 1)), every()), policy()).answer == "inconclusive"


@pytest.mark.parametrize(("left_out", "answer"), [(10, "pass"), (11, "not_judged")])
def test_more_than_a_policy_allows_is_not_judged_at_all(left_out: int, answer: Answer) -> None:
    allowed = policy(not_judged={"most": 0.1})
    found = one(candidate(trials((100 - left_out, 0, left_out)), rate(0.5)), allowed)
    assert (found.answer, found.planned, found.not_judged) == (answer, 100, {"provider": left_out})


def test_scenarios_that_are_set_aside_are_shown_and_count_for_nothing() -> None:
    some = candidate(trials((60, 0, 0), (0, 10, 90)), rate(0.95, 2), every(2))
    assert one(some, policy()).answer == "not_judged"
    aside = replace(some, set_aside={"pack/s1": "known to flicker", "pack/gone": "gone"})
    found = one(aside, policy())
    assert (found.answer, found.planned, found.not_judged) == ("pass", 60, {})
    assert [(one.scenario, one.why, one.passes, one.n) for one in found.set_aside] == [
        ("pack/s1", "known to flicker", 0, 10)
    ]
    assert {reason.demand.scenarios for reason in found.reasons} == {("pack/s0",)}
    nothing = one(replace(some, set_aside={"pack/s0": "a", "pack/s1": "b"}), policy())
    assert (nothing.answer, {reason.finding for reason in nothing.reasons}) == ("inconclusive", {"empty"})
    # a tier without a scenario asks for nothing, and the others are decided as ever
    tier = rate(0.95, 1, tier="must")
    other = rate(0.95, 2).model_copy(update={"scenarios": ("pack/s0",)})
    rest = replace(
        some, demands=(other, tier.model_copy(update={"scenarios": ("pack/s1",)})), set_aside={"pack/s1": "a"}
    )
    assert one(rest, policy()).answer == "pass"


def test_several_actors_share_the_chance_of_a_pass_that_nobody_deserves() -> None:
    shown = candidate(trials((59, 0, 0)), rate(0.95))
    assert [found.answer for found in decide([shown, shown], policy())] == ["inconclusive"] * 2
    surer = candidate(trials((72, 0, 0)), rate(0.95))
    # the surest of them is held against half, and once it passed the other one has all of it
    assert [found.answer for found in decide([shown, surer], policy())] == ["pass", "pass"]
    assert decide([shown, shown], policy())[0].reasons[0].trials == 72
    # who is sure of one demand and not of the other does not pass, and leaves nothing to others
    half = candidate(
        trials((90, 0, 0), (5, 0, 0)), rate(0.95), rate(0.95).model_copy(update={"scenarios": ("pack/s1",)})
    )
    assert [found.answer for found in decide([shown, half], policy())] == ["inconclusive"] * 2


def test_several_demands_share_the_chance_of_a_failure_that_nobody_deserves() -> None:
    some = trials((0, 5, 0), (5, 0, 0))
    assert one(candidate(some, rate(0.5)), policy()).answer == "fail"
    second = rate(0.5, 2).model_copy(update={"scenarios": ("pack/s1",)})
    assert one(candidate(some, rate(0.5), second), policy()).answer == "inconclusive"
    # all demands are to be met: to pass, none of them is corrected
    both = trials((59, 0, 0), (59, 0, 0))
    met = second.model_copy(update={"wanted": 0.95})
    assert one(candidate(both, rate(0.95), met), policy()).answer == "pass"


COUNTS = st.tuples(st.integers(0, 40), st.integers(0, 8), st.integers(0, 4))
WORSE = {"fail": 0, "inconclusive": 1, "pass": 2}


@st.composite
def judged(draw: st.DrawFn) -> tuple[list[Counts], list[Counts], list[Demand], Policy]:
    """Up to three scenarios of both, some demands on them, and a policy that lets any number be not judged."""
    own = draw(st.lists(COUNTS, min_size=1, max_size=3))
    baseline = [draw(COUNTS) for _ in own]
    wanted = st.sampled_from([0.3, 0.5, 0.8, 0.95])
    kinds = st.one_of(
        st.builds(lambda share, least: rate(share, len(own), least=least), wanted, st.integers(1, 12)),
        st.builds(lambda least: every(len(own), least=least), st.integers(1, 12)),
        st.builds(lambda share: drop(share, len(own)), st.sampled_from([0.02, 0.1, 0.3])),
    )
    demands = draw(st.lists(kinds, min_size=1, max_size=3))
    count = draw(st.sampled_from(["exclude", "fail"]))
    return own, baseline, demands, policy(not_judged={"count": count, "most": 1.0})


@settings(max_examples=40)
@given(judged(), st.data())
def test_more_passes_never_turn_a_pass_into_a_failure(
    drawn: tuple[list[Counts], list[Counts], list[Demand], Policy], data: st.DataObject
) -> None:
    own, baseline, demands, by = drawn
    place = data.draw(st.integers(0, len(own) - 1))
    passes, failures, left_out = own[place]
    better = list(own)
    better[place] = (passes + failures, 0, left_out) if failures else (passes + left_out, 0, 0)
    before, after = (
        one(candidate(trials(*side), *demands, baseline=trials(*baseline)), by).answer for side in (own, better)
    )
    if all(demand.kind != "drop" for demand in demands):
        assert WORSE[after] >= WORSE[before]
    assert (before, after) != ("pass", "fail")


@settings(max_examples=40)
@given(judged())
def test_nothing_passes_with_fewer_trials_than_are_asked_for(
    drawn: tuple[list[Counts], list[Counts], list[Demand], Policy],
) -> None:
    own, baseline, demands, by = drawn
    found = one(candidate(trials(*own), *demands, baseline=trials(*baseline)), by)
    least = max(demand.trials for demand in demands)
    if min(passes + failures for passes, failures, _ in own) < least:
        assert found.answer != "pass"
    assert ("missed" in {reason.finding for reason in found.reasons}) == (found.answer == "fail")


@settings(max_examples=40)
@given(judged())
def test_both_ways_of_counting_say_the_same_where_it_does_not_matter(
    drawn: tuple[list[Counts], list[Counts], list[Demand], Policy],
) -> None:
    own, baseline, demands, _ = drawn
    out, failed = (policy(not_judged={"count": count, "most": 1.0}) for count in ("exclude", "fail"))
    whole = [(passes, failures, 0) for passes, failures, _ in own]
    same = [one(candidate(trials(*whole), *demands, baseline=trials(*baseline)), by).answer for by in (out, failed)]
    assert same[0] == same[1]
    if all(demand.kind != "drop" for demand in demands):
        without, counted = (one(candidate(trials(*own), *demands), by).answer for by in (out, failed))
        # only what would pass with them as failures passes, and what fails without them fails with them
        assert (without == "pass") == (counted == "pass")
        assert without != "fail" or counted == "fail"


@pytest.mark.parametrize(("out", "answer"), [(29, "pass"), (30, "not_judged")])
def test_as_many_may_be_not_judged_as_the_policy_says_in_its_own_digits(out: int, answer: Answer) -> None:
    """0.29 of 100 is less than 29 in binary."""
    some = candidate(trials((100 - out, 0, out)), rate(0.5))
    assert one(some, policy(not_judged={"most": 0.29})).answer == answer


def test_trials_that_would_tell_are_those_of_scenarios_that_are_not_set_aside() -> None:
    asked = candidate(trials((11, 4, 0)), rate(0.5))
    both = replace(candidate(trials((11, 4, 0), (0, 5, 0)), rate(0.5, 2)), set_aside={"pack/s1": "known to flicker"})
    alone, beside = one(asked, policy()).reasons[0], one(both, policy()).reasons[0]
    assert (beside.trials, beside.demand) == (alone.trials, alone.demand)


def test_no_number_of_trials_tells_a_drop_of_just_the_margin() -> None:
    some = candidate(trials((25, 75, 0)), drop(0.25), baseline=trials((50, 50, 0)))
    found = one(some, policy(margin=0.25))
    assert (found.answer, found.reasons[0].trials) == ("inconclusive", None)
