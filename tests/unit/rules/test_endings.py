from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.rules import accepts, ending_findings, satisfies, silence
from harness.schema.base import JsonValue
from harness.schema.scenario import Scenario

Build = Callable[[Mapping[str, object]], Scenario]


def test_silence_is_the_first_rule_whose_facts_fit(build: Build) -> None:
    rules = [
        {"has": ["a", "b"], "code": "both"},
        {"has": ["a"], "lacks": ["c"], "code": "only_a"},
        {"code": "nothing"},
    ]
    scenario = build({"kind": [{"name": "k", "word": "k"}], "silence": rules})
    assert silence(scenario, {"a", "b", "c"}) == "both"
    assert silence(scenario, {"a"}) == "only_a"
    assert silence(scenario, {"a", "c"}) == "nothing"
    assert silence(scenario, set()) == "nothing"


def test_silence_is_the_last_rule_when_none_fits(build: Build) -> None:
    rules = [{"has": ["a"], "code": "first"}, {"has": ["b"], "code": "last"}]
    assert silence(build({"kind": [{"name": "k", "word": "k"}], "silence": rules}), set()) == "last"


def test_scenario_is_satisfied_when_every_accepted_fact_is_there(build: Build) -> None:
    scenario = build({"kind": [{"name": "k", "word": "k"}], "accept": ["a", "b"]})
    assert not accepts(scenario, {"a"})
    assert accepts(scenario, {"a", "b", "c"})


CHECKED = {
    "kind": [{"name": "k", "word": "k", "sets": "done"}],
    "end_check": [
        {"code": "said_otherwise", "holds": {"/answer/n": {"same_as": "/state/n"}, "/answer/word": "yes"}},
        {"code": "is_otherwise", "holds": {"/state/n": {"one_of": [1, 2]}}},
    ],
}


def test_facts_satisfy_a_scenario_at_once_unless_its_end_is_checked(build: Build) -> None:
    plain, checked = build({"kind": CHECKED["kind"]}), build(CHECKED)
    assert accepts(plain, {"done"})
    assert accepts(checked, {"done"})
    assert satisfies(plain, {"done"})
    assert not satisfies(plain, set())
    assert not satisfies(checked, {"done"})


def test_the_ends_checks_compare_what_was_said_with_what_is(build: Build) -> None:
    right: JsonValue = {"answer": {"n": 2, "word": "yes"}, "state": {"n": 2}}
    assert ending_findings(build(CHECKED), right) == ()
    wrong = ending_findings(build(CHECKED), {"answer": {"n": 3}, "state": {"n": 4}})
    assert [(one.code, one.check, one.pointer, one.got, one.missing) for one in wrong] == [
        ("said_otherwise", "end", "/answer/n", 3, False),
        ("said_otherwise", "end", "/answer/word", None, True),
        ("is_otherwise", "end", "/state/n", 4, False),
    ]


def test_without_an_answer_or_a_state_nothing_holds(build: Build) -> None:
    assert [one.code for one in ending_findings(build(CHECKED), {})] == ["said_otherwise"] * 2 + ["is_otherwise"]
