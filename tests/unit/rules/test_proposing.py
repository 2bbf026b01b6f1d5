from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.rules import RuleState, propose
from harness.schema.finding import Proposal
from harness.schema.rules import KindSpec
from harness.schema.scenario import Scenario

Build = Callable[[Mapping[str, object]], Scenario]
Find = Callable[[Scenario, str], KindSpec]


def test_call_of_no_kind_is_unexpected(build: Build) -> None:
    scenario = build({"kind": [{"name": "a", "word": "a", "sets": "done"}]})
    assert propose(scenario, RuleState(), None) == Proposal(kind=None, code="unexpected_command")


def test_fatal_kind_has_its_code_whatever_the_facts(build: Build, kind: Find) -> None:
    scenario = build({"kind": [{"name": "a", "word": "a", "fatal": "deadly"}]})
    assert propose(scenario, RuleState(frozenset({"done"})), kind(scenario, "a")).code == "deadly"


def test_questions_are_asked_in_order_once_never_needs(build: Build, kind: Find) -> None:
    rule = {"name": "a", "word": "a", "once": "again", "never": {"late": "too_late"}, "needs": {"early": "too_early"}}
    scenario = build({"kind": [rule]})
    found = kind(scenario, "a")

    def code(counted: int, *facts: str) -> str | None:
        return propose(scenario, RuleState(frozenset(facts), {"a": counted}), found).code

    assert code(1, "late") == "again"
    assert code(0, "late") == "too_late"
    assert code(0) == "too_early"
    assert code(0, "early") is None
    assert code(0, "early", "late") == "too_late"
    assert code(1, "early") == "again"


def test_kind_without_once_may_come_any_number_of_times(build: Build, kind: Find) -> None:
    scenario = build({"kind": [{"name": "a", "word": "a"}]})
    assert propose(scenario, RuleState(frozenset(), {"a": 9}), kind(scenario, "a")) == Proposal(kind="a")


def test_first_fact_in_file_order_gives_the_code(build: Build, kind: Find) -> None:
    needs = {"z": "no_z", "a": "no_a"}
    never = {"q": "has_q", "b": "has_b"}
    scenario = build({"kind": [{"name": "a", "word": "a", "needs": needs, "never": never}]})
    found = kind(scenario, "a")
    assert propose(scenario, RuleState(), found).code == "no_z"
    assert propose(scenario, RuleState(frozenset({"z"})), found).code == "no_a"
    assert propose(scenario, RuleState(frozenset({"b", "q"})), found).code == "has_q"
