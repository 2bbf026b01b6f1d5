"""The reachable fact sets of a scenario, and what leads from one to the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from harness.errors import ScenarioError
from harness.rules.endings import accepts, closes, satisfies, silence
from harness.rules.proposing import RuleState, propose
from harness.schema.graph import GraphEdge, GraphNode, RuleGraph
from harness.schema.name import Fact, KindName
from harness.schema.rules import AnswerCheck, KindSpec
from harness.schema.scenario import Scenario

__all__ = ["graph"]

#: Most states (facts, and kinds that were used up) that rules may reach: each independent one doubles their number.
STATES_MAX: Final = 4_096

#: Facts, and the ``once`` kinds that were used up.
_State = tuple[frozenset[Fact], frozenset[KindName]]


def graph(scenario: Scenario) -> RuleGraph:
    """Breadth-first over fact sets and kinds.

    An edge to a node is a call that may go on; an edge to None ends with its code: the rule that the call breaks,
    ``failed``, or a check's own code. A set that ends the episode has no edges.
    Calls of no kind are possible everywhere and left out. Raises ScenarioError beyond ``STATES_MAX`` states.
    """
    checked = _codes_of_checks(scenario)
    start: _State = (frozenset(), frozenset())
    nodes: dict[frozenset[Fact], int] = {start[0]: 0}
    edges: dict[GraphEdge, None] = {}
    seen, queue = {start}, deque([start])
    while queue:
        state = queue.popleft()
        if satisfies(scenario, state[0]) or closes(scenario, state[0]):
            continue
        for kind in scenario.kind:
            for code, following in _outcomes(scenario, state, kind, checked.get(kind.name, ())):
                target = None if following is None else nodes.setdefault(following[0], len(nodes))
                edges[GraphEdge(source=nodes[state[0]], kind=kind.name, target=target, code=code)] = None
                if following is not None and following not in seen:
                    if len(seen) == STATES_MAX:
                        raise ScenarioError(
                            scenario.id, "the rules have too many states", allowed=f"at most {STATES_MAX}"
                        )
                    seen.add(following)
                    queue.append(following)
    order = {kind.name: at for at, kind in enumerate(scenario.kind)}
    return RuleGraph(
        nodes=tuple(
            GraphNode(
                facts=tuple(sorted(facts)),
                accepts=accepts(scenario, facts),
                silence=None if accepts(scenario, facts) else silence(scenario, facts),
            )
            for facts in nodes
        ),
        edges=tuple(sorted(edges, key=lambda edge: (edge.source, order[edge.kind], edge.target is None))),
    )


def _codes_of_checks(scenario: Scenario) -> dict[KindName, list[str]]:
    """The codes that checks of their own give, by kind."""
    found: dict[KindName, list[str]] = {}
    for spec in scenario.check:
        own = [check.code for check in spec.answer.values() if isinstance(check, AnswerCheck) and check.code]
        found.setdefault(spec.kind, []).extend(own)
    for follow in scenario.after:
        own = [check.code for check in follow.answer.values() if isinstance(check, AnswerCheck) and check.code]
        found.setdefault(follow.kind, []).extend((follow.failed, *own))
    for kind in scenario.kind:
        found.setdefault(kind.name, []).extend(rule.code for rule in kind.options)
    return {name: list(dict.fromkeys(codes)) for name, codes in found.items()}


def _outcomes(
    scenario: Scenario, state: _State, kind: KindSpec, checked: Iterable[str]
) -> Iterator[tuple[str | None, _State | None]]:
    """Everything a call of ``kind`` can lead to: a code that ends, or the next state."""
    facts, used = state
    code = propose(scenario, RuleState(facts, dict.fromkeys(used, 1)), kind).code
    if code is not None:
        yield code, None
        return
    spent = used if kind.once is None else used | {kind.name}
    yield None, (facts if kind.sets is None else facts | {kind.sets}, spent)
    for fact in kind.proves:
        yield None, (facts | {fact} if kind.sets is None else facts | {kind.sets, fact}, spent)
    if kind.failed is None or any(error.class_ == "recoverable" for error in kind.errors):
        yield None, (facts, spent)
    if kind.failed is not None:
        yield kind.failed, None
    yield from ((code, None) for code in checked)
