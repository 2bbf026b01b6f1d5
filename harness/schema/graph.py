"""The reachable fact sets of a scenario's rules, as they are drawn."""

from __future__ import annotations

from harness.schema.base import Frozen

__all__ = ["GraphEdge", "GraphNode", "RuleGraph"]


class GraphNode(Frozen):
    """A set of facts, sorted. ``accepts``: it satisfies the scenario; ``silence``: the code of stopping there."""

    facts: tuple[str, ...]
    accepts: bool
    silence: str | None


class GraphEdge(Frozen):
    """From ``source`` (index of a node) a call of ``kind`` leads to ``target``, or ends with ``code``."""

    source: int
    kind: str
    target: int | None = None
    code: str | None = None


class RuleGraph(Frozen):
    """Nodes in breadth-first order from the empty set; edges in file order of kinds."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
