"""Which way an episode took through the graph of its scenario's rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.schema.graph import RuleGraph
from harness.schema.receipt import Receipt
from harness.schema.run import ScenarioSummary

__all__ = ["PathTaken", "Paths", "follow"]


@dataclass(frozen=True, slots=True)
class PathTaken:
    """Indexes of nodes and edges of a graph that an episode touched; ``end`` is the node in which it ended."""

    nodes: frozenset[int]
    edges: frozenset[int]
    end: int


def follow(graph: RuleGraph, receipt: Receipt) -> PathTaken:
    """From the empty set along the steps: facts that held lead on, a code leads to the edge that ends with it.

    What the graph does not hold (a call of no kind, a receipt of another version of the scenario) is passed over.
    """
    index = {frozenset(node.facts): number for number, node in enumerate(graph.nodes)}
    facts: frozenset[str] = frozenset()
    node = index.get(facts, 0)
    nodes, edges = {node}, set[int]()
    for step in receipt.steps:
        target = None
        if step.code is None:
            facts |= frozenset(step.sets)
            target = index.get(facts, node)
        for number, edge in enumerate(graph.edges):
            if (edge.source, edge.kind, edge.target, edge.code) == (node, step.kind, target, step.code):
                edges.add(number)
        node = node if target is None else target
        nodes.add(node)
    return PathTaken(frozenset(nodes), frozenset(edges), node)


class Paths:
    """The ways of many episodes; those that made the same calls with the same ends are followed once."""

    def __init__(self, summaries: Iterable[ScenarioSummary]) -> None:
        self.graphs = {one.id: one.graph for one in summaries if one.graph.nodes}
        self._known: dict[tuple[object, ...], PathTaken] = {}

    def of(self, receipt: Receipt) -> PathTaken | None:
        """None where nobody knows the rules of the scenario."""
        graph = self.graphs.get(receipt.scenario)
        if graph is None:
            return None
        key = (receipt.scenario, *((step.kind, step.code, step.sets) for step in receipt.steps))
        path = self._known.get(key)
        if path is None:
            path = self._known[key] = follow(graph, receipt)
        return path
