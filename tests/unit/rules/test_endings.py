from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.rules import accepts, silence
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
