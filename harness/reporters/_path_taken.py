"""Which way an episode took through the graph of its scenario's rules."""

from __future__ import annotations

from dataclasses import dataclass

from harness.schema.graph import RuleGraph
from harness.schema.receipt import Receipt

__all__ = ["PathTaken", "follow"]


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
