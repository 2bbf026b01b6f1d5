from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ScenarioError, ScriptError
from harness.scenario import bind, load, placeholders, static_values, substitute
from harness.scenario.placeholders import BOUND_MAX, REPEAT_MAX, VALUE_MAX, find_cycle, find_oversized, names_in
from harness.schema.base import JsonValue
from harness.schema.scenario import Scenario
from harness.schema.script import Action

VALUES = {
    "project_root": "/w/project",
    "state_root": "/w/state",
    "home_root": "/w/home",
    "fixture_root": "/w",
    "turn_id": "t-1",
}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("{a} and {b}", "1 and 2"),
        ("{a}{a}", "11"),
        ("{c} {A} {a b} {}", "{c} {A} {a b} {}"),
        ("${a} $${a} {a}", "${a} $${a} 1"),
        ("{{a}}", "{1}"),
        ("{loop}", "{a}"),
        ("{repeat:x:3}|{repeat:é:2}|{repeat:x:0}", "xxx|éé|"),
        ("{repeat:}:2}{repeat:\n:2}{repeat:::2}", "}}\n\n::"),
        ("{repeat:{:1}a}", "{a}"),
        (
            "${repeat:x:3} {repeat:xy:3} {repeat:x:-1} {repeat:x:²}",
            "${repeat:x:3} {repeat:xy:3} {repeat:x:-1} {repeat:x:²}",
        ),
    ],
)
def test_known_names_and_repeats_are_replaced_once(text: str, result: str) -> None:
    assert substitute(text, {"a": "1", "b": "2", "loop": "{a}"}.get) == result


def test_repeat_is_bounded() -> None:
    assert len(substitute(f"{{repeat:x:{REPEAT_MAX}}}", lambda _: None)) == REPEAT_MAX
    assert substitute("{repeat:x:0000000000002}", lambda _: None) == "xx"
    for count in (str(REPEAT_MAX + 1), "9" * 5_000):
        with pytest.raises(ScriptError, match="at most 1000000"):
            substitute(f"{{repeat:x:{count}}}", lambda _: None)


def test_names_in_a_text_are_those_in_braces() -> None:
    assert names_in("{a} ${b} {c_1} {D} {repeat:x:3}") == ("a", "c_1")


def test_static_values_are_put_into_each_other(whole: Scenario) -> None:
    assert static_values(whole) == {"task": "task_1", "proof": "notes/task_1.json"}


def test_values_that_lead_in_a_circle_are_refused(whole: Scenario) -> None:
    circular = whole.model_copy(update={"values": {"a": "{b}", "b": "x{c}", "c": "{a}"}})
    with pytest.raises(ScenarioError, match="a -> b -> c -> a"):
        static_values(circular)


def test_circle_is_found_behind_a_value_that_is_in_none() -> None:
    assert find_cycle({"x": "{a}{z}", "a": "{b}", "b": "{a}", "z": ""}) == ("a", "b", "a")
    assert find_cycle({"x": "{a}{b}", "a": "{b}", "b": "{gone}"}) == ()


def test_binding_replaces_every_known_name_everywhere(whole: Scenario) -> None:
    bound = bind(whole, VALUES)
    assert bound.workspace.file[0].at == ("project/notes/task_1.json", "home/copy.json")
    assert bound.workspace.file[0].text == '{"shell": "${HOME}", "root": "/w/project"}'
    assert bound.workspace.prepare[0].plane == ("init", "--root", "/w/project")
    assert bound.late["briefing"].plane == ("brief", "--task", "task_1")
    assert bound.kind[1].word == "task_1"
    assert bound.call is not None
    assert bound.call.set == {"root": "/w/project"}
    assert bound.check[0].shows is not None
    assert bound.check[0].shows.file == "project/notes/task_1.json"
    assert bound.script.reference[1] == "cat notes/task_1.json"


def test_binding_leaves_late_names_and_shell_text(whole: Scenario) -> None:
    bound = bind(whole, VALUES)
    assert bound.prompt.user == "{briefing}\nTurn t-1.\n"
    assert bound.script.reference[0] == "{ask_command}"
    act = bound.script.reference[2]
    assert isinstance(act, Action)
    assert act.command == "{act_command}"
    assert act.model_fields_set == {"command", "replace", "assistant_content"}


@pytest.mark.parametrize("known", [VALUES, {}, {"turn_id": "t"}, {"project_root": "/p"}, {"state_root": '\\ " é'}])
def test_binding_makes_the_scenario_that_its_whole_text_says(whole: Scenario, known: dict[str, str]) -> None:
    bound = bind(whole, known)
    said = whole.model_dump(mode="json", exclude_unset=True)
    room = placeholders._Room()
    names = {**{name: room.replace(text, known.get) for name, text in static_values(whole).items()}, **known}
    wanted = Scenario.model_validate_json(json.dumps(placeholders._everywhere(said, names, room, ())))
    assert bound == wanted
    assert bound.model_fields_set == wanted.model_fields_set
    assert bound.model_dump(exclude_unset=True) == wanted.model_dump(exclude_unset=True)


def test_what_binding_leaves_alone_is_the_same_object(whole: Scenario) -> None:
    bound = bind(whole, VALUES)
    assert bound is not whole
    assert bound.limits is whole.limits


def test_binding_twice_changes_nothing(whole: Scenario) -> None:
    bound = bind(whole, VALUES)
    assert bind(bound, VALUES) == bound


def test_value_that_does_not_fit_its_place_is_refused_without_being_shown(whole: Scenario) -> None:
    rooted = whole.model_copy(update={"values": {"task": "{turn_id}", "proof": "notes/{task}.json"}})
    with pytest.raises(ScenarioError, match=r"workspace\.file\[0\]\.at\[0\]") as caught:
        bind(rooted, {**VALUES, "turn_id": "canary" * 200})
    assert "canary" not in str(caught.value)


def test_values_that_double_each_other_are_refused_before_they_are_made(whole: Scenario) -> None:
    laughs = {"v0": "x" * 10, **{f"v{n}": f"{{v{n - 1}}}{{v{n - 1}}}" for n in range(1, 60)}}
    assert find_oversized(laughs) == "v13"
    assert find_oversized({"a": "x" * VALUE_MAX}) is None
    doubling = whole.model_copy(update={"values": {**whole.values, **laughs}})
    with pytest.raises(
        ScenarioError, match=r"values\.v13: with the values that it names it is too large; allowed: 65536"
    ):
        static_values(doubling)


def test_a_long_chain_of_values_is_resolved() -> None:
    chain = {"v0": "end", **{f"v{n}": f"{{v{n - 1}}}" for n in range(1, 3_000)}}
    assert find_oversized(dict(reversed(chain.items()))) is None


def test_texts_that_grow_too_large_with_values_in_place_name_their_key(whole: Scenario) -> None:
    large = {**whole.values, "task": "x" * VALUE_MAX, "proof": "notes/x.json"}
    prompt = whole.prompt.model_copy(update={"user": "{task}" * (BOUND_MAX // VALUE_MAX + 1)})
    grown = whole.model_copy(update={"values": large, "prompt": prompt})
    with pytest.raises(ScenarioError, match=r"prompt\.user: too long once values are put in"):
        bind(grown, VALUES)


def test_one_text_can_neither_repeat_nor_hold_more_than_its_bound() -> None:
    half = f"{{repeat:a:{REPEAT_MAX // 2}}}"
    assert len(substitute(half * 2, lambda _: None)) == REPEAT_MAX
    with pytest.raises(ScriptError, match="too many characters"):
        substitute(half * 2 + "{repeat:b:1}", lambda _: None)
    with pytest.raises(ScriptError, match="too long once values are put in"):
        substitute("{a}" * 9, lambda _: "x" * 1_000_000)


def test_a_text_that_does_not_fit_once_bound_names_file_line_and_key(text: str, write: Callable[[str], Path]) -> None:
    path = write(text.replace('proof = "notes/', f'proof = "{"n" * 600}/'))
    with pytest.raises(ScenarioError) as caught:
        load(path, grammars=frozenset({"loopx-0.4"}))
    error = caught.value
    assert (error.path, error.key) == (str(path), "workspace.file[0].at[0]")
    assert error.line is not None
    assert "{proof}" in path.read_text(encoding="utf-8").splitlines()[error.line - 1]


def test_a_scenario_in_which_nothing_is_to_be_put_is_its_own_binding(whole: Scenario) -> None:
    bound = bind(whole, VALUES)
    assert bound != whole
    assert bind(bound, {**VALUES, "project_root": "/elsewhere"}) is bound


_JSON = st.recursive(
    st.one_of(st.none(), st.integers(), st.booleans(), st.text(), st.sampled_from(["{a}", "x{b}y{c}", "${a}", "{"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=12,
)


@given(_JSON, st.dictionaries(st.sampled_from("abc"), st.text(max_size=5)))
def test_putting_in_where_braces_are_is_putting_in_everywhere(value: JsonValue, known: dict[str, str]) -> None:
    one, other = placeholders._Room(), placeholders._Room()
    spots = placeholders._spots(value)
    one.take(spots.rest)
    assert placeholders._at_spots(value, spots, known, one) == placeholders._everywhere(value, known, other, ())
    assert one.left == other.left


def test_texts_without_braces_take_room_too(whole: Scenario) -> None:
    large = {**whole.values, "task": "x" * VALUE_MAX, "proof": "notes/x.json"}
    user = "{task}" * (BOUND_MAX // VALUE_MAX - 12)

    def with_system(characters: int) -> Scenario:
        prompt = whole.prompt.model_copy(update={"system": "y" * characters, "user": user})
        return whole.model_copy(update={"values": large, "prompt": prompt})

    with pytest.raises(ScenarioError, match="too long once values are put in"):
        bind(with_system(12 * VALUE_MAX), VALUES)
    assert len(bind(with_system(VALUE_MAX), VALUES).prompt.user) > BOUND_MAX - 13 * VALUE_MAX
