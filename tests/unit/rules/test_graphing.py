from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from harness.errors import ScenarioError
from harness.rules import graph
from harness.schema.graph import GraphEdge
from harness.schema.scenario import Scenario

Build = Callable[[Mapping[str, object]], Scenario]


def edges(scenario: Scenario) -> list[tuple[int, str, int | None, str | None]]:
    return [(edge.source, edge.kind, edge.target, edge.code) for edge in graph(scenario).edges]


def test_nodes_are_the_reachable_fact_sets_in_breadth_first_order(build: Build) -> None:
    kinds = [
        {"name": "ask", "word": "ask", "failed": "ask_failed", "sets": "asked"},
        {"name": "act", "word": "act", "needs": {"asked": "act_early"}, "failed": "act_failed", "sets": "done"},
        {"name": "far", "word": "far", "needs": {"done": "far_early"}, "sets": "beyond"},
    ]
    scenario = build({"kind": kinds, "silence": [{"has": ["asked"], "code": "waited"}, {"code": "idle"}]})
    nodes = [(node.facts, node.accepts, node.silence) for node in graph(scenario).nodes]
    assert nodes == [((), False, "idle"), (("asked",), False, "waited"), (("asked", "done"), True, None)]
    assert edges(scenario) == [
        (0, "ask", 1, None),
        (0, "ask", None, "ask_failed"),
        (0, "act", None, "act_early"),
        (0, "far", None, "far_early"),
        (1, "ask", 1, None),
        (1, "ask", None, "ask_failed"),
        (1, "act", 2, None),
        (1, "act", None, "act_failed"),
        (1, "far", None, "far_early"),
    ]


def test_kind_used_once_leads_to_its_code_the_second_time_only(build: Build) -> None:
    kinds = [
        {"name": "clock", "read": "clock", "once": "clock_again"},
        {"name": "act", "word": "act", "once": "act_again", "failed": "act_failed", "sets": "asked"},
    ]
    assert edges(build({"kind": kinds})) == [
        (0, "clock", 0, None),
        (0, "clock", None, "clock_again"),
        (0, "act", 1, None),
        (0, "act", None, "act_failed"),
        (1, "clock", 1, None),
        (1, "clock", None, "clock_again"),
        (1, "act", None, "act_again"),
    ]


def test_a_recoverable_error_of_a_kind_that_may_fail_leads_on(build: Build) -> None:
    def leads(class_: str) -> list[tuple[int, str, int | None, str | None]]:
        errors = [{"exit": 3, "class": class_, "code": "busy"}]
        kinds = [{"name": "act", "word": "act", "errors": errors, "failed": "act_failed", "sets": "done"}]
        return edges(build({"kind": kinds}))

    assert leads("terminal") == [(0, "act", 1, None), (0, "act", None, "act_failed")]
    assert leads("recoverable") == [(0, "act", 1, None), (0, "act", 0, None), (0, "act", None, "act_failed")]


def test_fatal_never_and_own_codes_of_checks_end_the_episode(build: Build) -> None:
    kinds = [
        {"name": "bad", "word": "bad", "fatal": "forbidden"},
        {"name": "ask", "word": "ask", "never": {"asked": "too_late"}, "failed": "ask_failed", "sets": "asked"},
    ]
    checks = [{"kind": "ask", "answer": {"/a": {"equals": 1, "code": "wrong_a"}, "/b": 2, "/c": {"contains": 3}}}]
    assert edges(build({"kind": kinds, "check": checks})) == [
        (0, "bad", None, "forbidden"),
        (0, "ask", 1, None),
        (0, "ask", None, "ask_failed"),
        (0, "ask", None, "wrong_a"),
        (1, "bad", None, "forbidden"),
        (1, "ask", None, "too_late"),
    ]


def test_kind_without_failed_may_also_go_on_without_its_fact(build: Build) -> None:
    kinds = [{"name": "ask", "word": "ask", "once": "again", "sets": "done"}]
    scenario = build({"kind": kinds})
    assert GraphEdge(source=0, kind="ask", target=0) in graph(scenario).edges
    assert GraphEdge(source=0, kind="ask", target=1) in graph(scenario).edges
    assert GraphEdge(source=0, kind="ask", code="again") in graph(scenario).edges


def test_rules_with_too_many_states_are_refused_in_bounded_time(build: Build) -> None:
    kinds = [{"name": f"k{number}", "word": f"w{number}", "sets": f"f{number}"} for number in range(30)]
    wide = build({"kind": kinds})
    with pytest.raises(ScenarioError, match="the rules have too many states; allowed: at most 4096"):
        graph(wide)


def test_calls_go_on_after_the_accepted_facts_where_the_end_is_checked(build: Build) -> None:
    rules = {"kind": [{"name": "k", "word": "k", "sets": "done"}]}
    checked = {**rules, "end_check": [{"code": "c", "holds": {"/answer": "yes"}}]}
    (plain,) = [edge.source for edge in graph(build(rules)).edges if edge.target == 1]
    assert plain == 0
    assert [(edge.source, edge.target) for edge in graph(build(checked)).edges if edge.target == 1] == [(0, 1), (1, 1)]


def test_a_call_that_follows_gives_its_codes_to_the_kind_that_it_follows(build: Build) -> None:
    kinds = [{"name": "act", "word": "act", "sets": "done"}]
    answer = {"/ok": {"equals": True, "code": "not_settled"}, "/kind": "x"}
    after = [{"kind": "act", "plane": ["look"], "failed": "look_failed", "answer": answer}]
    assert edges(build({"kind": kinds, "after": after})) == [
        (0, "act", 1, None),
        (0, "act", 0, None),
        (0, "act", None, "look_failed"),
        (0, "act", None, "not_settled"),
    ]


def test_what_a_call_proves_is_a_place_of_its_own(build: Build) -> None:
    kinds = [
        {"name": "act", "word": "act", "sets": "done", "failed": "act_failed", "proves": {"seen": "project/a.json"}},
        {"name": "look", "word": "look", "failed": "look_failed", "proves": {"seen": "project/a.json"}},
    ]
    nodes = [node.facts for node in graph(build({"kind": kinds})).nodes]
    assert nodes == [(), ("done",), ("done", "seen"), ("seen",)]
