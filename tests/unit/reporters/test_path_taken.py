from __future__ import annotations

from dataclasses import replace

from harness.reporters._path_taken import follow
from harness.schema.graph import GraphEdge, GraphNode, RuleGraph
from harness.schema.run import RunView


def graph(view: RunView, at: int) -> RuleGraph:
    return view.manifest.scenarios[at].graph


def named(rules: RuleGraph, edges: frozenset[int]) -> list[tuple[int, str, int | str | None]]:
    return sorted(
        (edge.source, edge.kind, edge.code if edge.target is None else edge.target)
        for at, edge in enumerate(rules.edges)
        if at in edges
    )


def test_a_pass_is_followed_to_the_node_that_accepts(view: RunView) -> None:
    path = follow(graph(view, 0), view.receipts[0])
    assert path.nodes == {0, 1, 2, 3}
    assert graph(view, 0).nodes[path.end].accepts
    assert named(graph(view, 0), path.edges) == [
        (0, "quota_should_run", 1),
        (1, "capability_callsite", 2),
        (2, "quota_reentry", 3),
    ]


def test_of_two_ways_the_one_that_was_taken_is_marked(view: RunView) -> None:
    rules = graph(view, 1)
    path = follow(rules, view.receipts[5])
    assert [rules.nodes[node].facts for node in sorted(path.nodes)] == [
        (),
        ("informed",),
        ("informed", "inspected"),
        ("claimed", "informed", "inspected"),
        ("claimed", "delivered", "informed", "inspected"),
    ]
    assert (1, "workspace_read", 1) in named(rules, path.edges)


def test_a_call_that_broke_a_rule_marks_the_code_it_ended_with(view: RunView) -> None:
    path = follow(graph(view, 0), view.receipts[1])
    assert path.end == 1
    assert named(graph(view, 0), path.edges) == [
        (0, "quota_should_run", 1),
        (1, "quota_reentry", "quota_reentry_before_callsite"),
    ]


def test_a_call_of_no_kind_marks_nothing_and_stays(view: RunView) -> None:
    path = follow(graph(view, 1), view.receipts[6])
    assert path.end == 2
    assert len(path.edges) == 2


def test_facts_that_the_graph_does_not_hold_are_passed_over(view: RunView) -> None:
    path = follow(graph(view, 1), view.receipts[0])
    assert path.end == 1
    assert path.nodes == {0, 1}


def test_of_several_codes_of_one_kind_only_the_one_it_ended_with_is_marked(view: RunView) -> None:
    rules = RuleGraph(
        nodes=(GraphNode(facts=(), accepts=False, silence="quiet"),),
        edges=(
            GraphEdge(source=0, kind="quota_should_run", code="quota_execution_failed"),
            GraphEdge(source=0, kind="quota_should_run", code="quota_answer_differs"),
        ),
    )
    step = replace(view.receipts[0].steps[0], code="quota_answer_differs", sets=())
    assert follow(rules, view.receipts[0].model_copy(update={"steps": (step,)})).edges == {1}
