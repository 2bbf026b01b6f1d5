"""Rules that hold for any scenario, any facts and any results."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.rules import RuleState, accepts, codes, graph, judge, match, propose, silence
from harness.rules.expecting import examine, same
from harness.schema.base import JsonValue
from harness.schema.graph import GraphEdge
from harness.schema.observation import Observation
from harness.schema.pointer import MISSING, pointer
from harness.schema.rules import AnswerCheck
from harness.schema.scenario import Scenario

FACTS = ("a", "b", "c")

json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    kinds: list[dict[str, JsonValue]] = []
    for number in range(draw(st.integers(1, 4))):
        rule: dict[str, JsonValue] = {"name": f"k{number}", "tool": f"t{number}"}
        if draw(st.booleans()):
            rule["once"] = f"once{number}"
        if draw(st.booleans()):
            rule["failed"] = f"failed{number}"
        if draw(st.booleans()):
            rule["sets"] = draw(st.sampled_from(FACTS))
        for key in ("needs", "never"):
            chosen = draw(st.lists(st.sampled_from(FACTS), max_size=2, unique=True))
            rule[key] = {fact: f"{key}_{fact}{number}" for fact in chosen}
        kinds.append(
            {"name": f"k{number}", "tool": f"t{number}", "fatal": "dead"} if draw(st.integers(0, 5)) == 0 else rule
        )
    accept: list[JsonValue] = [*draw(st.lists(st.sampled_from(FACTS), min_size=1, max_size=2, unique=True))]
    check: list[JsonValue] = []
    if draw(st.booleans()):
        check.append({"kind": "k0", "answer": {"/x": {"equals": 1, "code": "wrong_x"}}})
    data: dict[str, JsonValue] = {
        "schema": 1,
        "id": "demo/walk",
        "asks": "",
        "plane": "demo==1",
        "workspace": {"roots": ["project"]},
        "prompt": {"user": ""},
        "tool": {"run": {"about": "", "argument": "x", "grammar": "g"}},
        "kind": [*kinds],
        "end": {"accept": accept, "silence": [{"has": ["a"], "code": "quiet_a"}, {"code": "quiet"}]},
        "check": check,
        "script": {"reference": []},
    }
    return Scenario.model_validate_json(json.dumps(data))


@given(scenarios(), st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, 1, 2])), max_size=12))
def test_every_walk_follows_the_edges_of_the_graph(scenario: Scenario, walk: list[tuple[int, int | None]]) -> None:
    drawn = graph(scenario)
    at = {node.facts: index for index, node in enumerate(drawn.nodes)}
    state = RuleState()
    for number, answer in walk:
        node = drawn.nodes[at[tuple(sorted(state.facts))]]
        assert node.accepts is accepts(scenario, state.facts)
        if node.accepts:
            return
        assert node.silence == silence(scenario, state.facts)
        kind = match(scenario, tool=f"t{number}", arguments={}, parsed=None)
        if kind is None:
            continue
        code = propose(scenario, state, kind).code
        sets: tuple[str, ...] = ()
        if code is None:
            seen = Observation(ran=True, ok=answer is not None, text="", exit_code=0, answer={"x": answer})
            judgement = judge(scenario, state, kind, seen, file=lambda _: None, kind_of=lambda _: None)
            code, sets = judgement.code, judgement.sets
        source = at[tuple(sorted(state.facts))]
        if code is not None:
            assert code in codes(scenario)
            assert GraphEdge(source=source, kind=kind.name, code=code) in drawn.edges
            return
        facts = state.facts | set(sets)
        assert GraphEdge(source=source, kind=kind.name, target=at[tuple(sorted(facts))]) in drawn.edges
        state = RuleState(facts, {**state.counts, kind.name: state.counts.get(kind.name, 0) + 1})


@given(scenarios())
def test_graph_has_no_node_without_a_way_to_it(scenario: Scenario) -> None:
    drawn = graph(scenario)
    reached = {0}
    for edge in drawn.edges:
        assert (edge.target is None) is (edge.code is not None)
        if edge.target is not None and edge.source in reached:
            reached.add(edge.target)
    for _ in drawn.nodes:
        reached |= {edge.target for edge in drawn.edges if edge.source in reached and edge.target is not None}
    assert reached == set(range(len(drawn.nodes)))


@given(scenarios(), st.frozensets(st.sampled_from(FACTS)))
def test_silence_always_has_a_declared_code(scenario: Scenario, facts: frozenset[str]) -> None:
    assert silence(scenario, facts) in codes(scenario)


@given(json_values)
def test_value_is_the_same_as_its_json_copy(value: JsonValue) -> None:
    assert same(value, json.loads(json.dumps(value)))


@given(json_values, json_values)
def test_values_are_the_same_exactly_when_one_may_stand_for_the_other(left: JsonValue, right: JsonValue) -> None:
    assert same(left, right) is same(right, left)
    if same(left, right):
        assert same([left, {"x": right}], [right, {"x": left}])
    else:
        assert not same({"x": left}, {"x": right})


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=4))
def test_pointer_finds_every_member(document: dict[str, JsonValue]) -> None:
    for key, value in document.items():
        found = pointer(document, "/" + key.replace("~", "~0").replace("/", "~1"))
        assert found is not MISSING
        assert same(found, value)


@given(json_values, st.text(alphabet="/~01ab-", max_size=8))
def test_looking_into_any_value_by_any_text_never_raises(document: JsonValue, at: str) -> None:
    found = pointer(document, at)
    misses = examine(document, at, AnswerCheck(absent=True))
    assert bool(misses) is (found is not MISSING)
