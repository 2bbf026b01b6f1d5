"""Variants of a file: scenarios of their own, told where they stand; and pairs of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import ScenarioError
from harness.scenario import discover, json_schema, load, variant_of
from harness.schema.base import JsonValue
from harness.schema.scenario import Scenario

Write = Callable[[str], Path]
GRAMMARS = frozenset({"loopx-0.4"})
VARIANT = """
[variant.other]
asks = "Does it ask otherwise?"
limits.model_turns = 9
"""


def other(path: Path) -> Scenario:
    return load(path, grammars=GRAMMARS, variant="other").scenario


def test_a_variant_is_its_file_with_parts_replaced_under_its_own_id(text: str, whole: Scenario, write: Write) -> None:
    path = write(text + VARIANT)
    made = other(path)
    assert (made.id, made.asks, made.limits.model_turns) == (f"{whole.id}-other", "Does it ask otherwise?", 9)
    assert (made.kind, made.limits.tool_calls, made.pair) == (whole.kind, whole.limits.tool_calls, ())
    assert load(path, grammars=GRAMMARS).scenario == whole


def test_the_file_itself_keeps_its_digest_and_the_variant_has_another(text: str, write: Write) -> None:
    before = load(write(text), grammars=GRAMMARS).digest
    pair = '\n[[pair]]\nvariants = ["base", "other"]\nverdicts = "agree"\nplay = ["ls"]\n'
    path = write(text + VARIANT + pair)
    assert load(path, grammars=GRAMMARS).digest == before
    assert load(path, grammars=GRAMMARS, variant="other").digest != before


def test_kinds_files_checks_and_scripts_are_named_in_a_variant(text: str, whole: Scenario, write: Write) -> None:
    kind, file = whole.kind[0], whole.workspace.file[0]
    check = next(one for one in whole.check if one.answer)
    wrong = next(iter(whole.script.wrong))
    change = f"""
[variant.other]
kind.{kind.name}.failed = "failed_otherwise"
workspace.file."{file.at[0]}".text = "{{}}"
check.{check.kind}.answer."/more" = 1
script.right.another = ["ls"]
drop = ["script.wrong.{wrong}"]
"""
    made = other(write(text + change))
    assert (made.kind[0].failed, made.kind[0].sets, made.kind[0].name) == ("failed_otherwise", kind.sets, kind.name)
    assert (made.workspace.file[0].text, made.workspace.file[0].at) == ("{}", file.at)
    answers = next(one for one in made.check if one.kind == check.kind and one.answer).answer
    assert answers == {**check.answer, "/more": 1}
    assert set(made.script.right) == {*whole.script.right, "another"}
    assert set(made.script.wrong) == set(whole.script.wrong) - {wrong}


def test_what_is_left_out_of_a_variant_may_be_a_kind_or_a_key_of_one(text: str, whole: Scenario, write: Write) -> None:
    once = next(kind.name for kind in whole.kind if kind.once)
    change = f'\n[variant.other]\ndrop = ["kind.{once}.once"]\n'
    codes = next(kind.once for kind in whole.kind if kind.name == once)
    dropped = f'{change[:-3]}, "script.wrong.{codes}"]\n' if codes in whole.script.wrong else change
    made = other(write(text + dropped))
    assert next(kind.once for kind in made.kind if kind.name == once) is None
    assert len(made.kind) == len(whole.kind)


FAULTS = {
    "id": ('id = "demo/other"', "variant.other.id", "in common with its file"),
    "plane": ('plane = "demo==2"', "variant.other.plane", "in common with its file"),
    "a kind that is not there": ('kind.nobody.failed = "x"', "variant.other.kind.nobody", "nothing in kind"),
    "a file that is not there": (
        'workspace.file."project/none".text = "x"',
        'variant.other.workspace.file."project/none"',
        "nothing in workspace.file",
    ),
    "a value that does not fit": ("limits.model_turns = -1", "variant.other.limits.model_turns", ">= 0"),
    "an unknown key at the top": ("limit.turns = 1", "variant.other.limit", "did you mean 'limits'?; allowed: after, "),
    "an unknown key": ("limits.turns = 1", "variant.other.limits.turns", "unknown key"),
    "a drop of nothing": ('drop = ["kind.nobody"]', "variant.other.drop[0]", "not in the file"),
    "a drop of all": ('drop = ["kind"]', "variant.other.drop[0]", "no names of a part"),
    "a drop that is none": ("drop = [1]", "variant.other.drop[0]", "no names of a part"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_a_variant_is_told_where_it_stands(name: str, text: str, write: Write) -> None:
    change, key, told = FAULTS[name]
    content = f"{text}\n[variant.other]\n{change}\n"
    with pytest.raises(ScenarioError) as caught:
        other(write(content))
    assert (caught.value.key, caught.value.line) == (key, content.count("\n"))
    assert told in str(caught.value)


def test_a_fault_of_a_kind_in_a_variant_is_told_there(text: str, whole: Scenario, write: Write) -> None:
    name = whole.kind[0].name
    content = f'{text}\n[variant.other]\nasks = "?"\nkind.{name}.never = {{ never_set = "c" }}\n'
    with pytest.raises(ScenarioError) as caught:
        other(write(content))
    assert caught.value.key == f"variant.other.kind.{name}.never.never_set"
    assert caught.value.line == content.count("\n")


def test_what_a_variant_may_not_say_is_not_offered_to_it(text: str, write: Write) -> None:
    with pytest.raises(ScenarioError) as caught:
        other(write(f"{text}\n[variant.other]\nidd = 1\n"))
    allowed = caught.value.allowed.split(", ")
    assert {"drop", "kind", "asks"} <= set(allowed)
    assert not {"id", "schema", "plane", "pair", "variant"} & set(allowed)


def test_an_element_that_is_not_there_is_told_with_those_there_are(text: str, whole: Scenario, write: Write) -> None:
    name = whole.kind[0].name
    with pytest.raises(ScenarioError) as caught:
        other(write(f'{text}\n[variant.other]\nkind.{name}s.failed = "x"\n'))
    assert f"did you mean {name!r}?" in str(caught.value)
    assert caught.value.allowed == ", ".join(kind.name for kind in whole.kind)
    with pytest.raises(ScenarioError) as caught:
        other(write(f'{text}\n[variant.other]\nworkspace.file."project/none".text = "x"\n'))
    assert caught.value.allowed == ", ".join(at for file in whole.workspace.file for at in file.at)
    with pytest.raises(ScenarioError) as caught:
        other(write(f"{text}\n[variant.other]\nkind.{name} = 1\n"))
    assert (caught.value.key, caught.value.allowed) == (f"variant.other.kind.{name}", "a table")


def test_a_misspelt_table_of_variants_is_told_where_it_stands(text: str, write: Write) -> None:
    content = f'{text}\n[varaint.other]\nasks = "?"\n'
    with pytest.raises(ScenarioError) as caught:
        load(write(content), grammars=GRAMMARS)
    assert "did you mean 'variant'?" in str(caught.value)
    assert caught.value.line == content.count("\n") - 1


BROKEN = {
    "no table": ('[variant]\nother = "x"', "variant", "tables with names"),
    "a name": ('[variant."O K"]\nasks = "?"', 'variant."O K"', "cannot be the name"),
    "base": ('[variant.base]\nasks = "?"', "variant.base", "not base"),
    "an unknown variant": (
        '[[pair]]\nvariants = ["base", "othr"]\nverdicts = "agree"\nplay = ["ls"]',
        "pair[0].variants[1]",
        "no variant 'othr'",
    ),
    "a pair with itself": (
        '[[pair]]\nvariants = ["base", "base"]\nverdicts = "agree"\nplay = ["ls"]',
        "pair[0].variants",
        "with itself",
    ),
    "nothing played": (
        '[[pair]]\nvariants = ["base", "other"]\nverdicts = "agree"\nplay = []\n[variant.other]\nasks = "?"',
        "pair[0].play",
        "nothing is played",
    ),
    "three": (
        '[[pair]]\nvariants = ["base", "a", "b"]\nverdicts = "agree"\nplay = ["ls"]',
        "pair[0].variants",
        "at most 2",
    ),
    "an unknown verdict": (
        '[[pair]]\nvariants = ["base", "a"]\nverdicts = "same"\nplay = ["ls"]',
        "pair[0].verdicts",
        "agree",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_fault_of_variants_and_pairs_is_told(name: str, text: str, write: Write) -> None:
    added, key, told = BROKEN[name]
    with pytest.raises(ScenarioError) as caught:
        load(write(f"{text}\n{added}\n"), grammars=GRAMMARS)
    assert caught.value.key == key
    assert told in str(caught.value)


def test_variants_are_found_beside_their_file_unless_a_file_has_their_id(text: str, write: Write) -> None:
    path = write(text + VARIANT)
    twin = path.with_name("whole-other.toml")
    found = discover([path.parent.parent])
    assert found == {"demo/whole": path, "demo/whole-other": path}
    assert [variant_of(name, path) for name in found] == [None, "other"]
    twin.write_text(text.replace("demo/whole", "demo/whole-other"), encoding="utf-8")
    assert discover([path.parent.parent])["demo/whole-other"] == twin


def test_a_file_that_cannot_be_read_has_no_variants_and_harms_nobody(write: Write) -> None:
    path = write("[variant.other\n")
    assert discover([path.parent.parent]) == {"demo/whole": path}


def test_an_unknown_variant_is_told_with_those_there_are(text: str, write: Write) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(write(text + VARIANT), grammars=GRAMMARS, variant="othr")
    assert "did you mean 'other'?" in str(caught.value)


def test_editors_know_what_a_variant_may_say() -> None:
    properties = json_schema()["properties"]
    assert isinstance(properties, dict)
    variant = properties["variant"]
    assert isinstance(variant, dict)
    one: JsonValue = variant["additionalProperties"]
    assert isinstance(one, dict)
    keys = one["properties"]
    assert isinstance(keys, dict)
    assert {"limits", "kind", "script", "drop"} <= set(keys)
    assert not {"id", "plane", "schema", "pair", "variant"} & set(keys)


def test_what_is_wrong_in_a_list_of_which_something_was_left_out_is_told_where_it_stands(
    text: str, whole: Scenario, write: Write
) -> None:
    opens = '\n[[kind]]\nname = "opens"\ntool = "run"\nsets = "opened"\n'
    enters = '\n[[kind]]\nname = "enters"\ntool = "run"\nneeds = { opened = "entered_early" }\n'
    content = f'{text}{opens}{enters}\n[variant.other]\ndrop = ["kind.opens"]\n'
    with pytest.raises(ScenarioError) as caught:
        other(write(content))
    assert caught.value.key == f"kind[{len(whole.kind) + 1}].needs.opened"
    assert content.splitlines()[(caught.value.line or 0) - 1].startswith("needs = { opened")


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ('check.{0}.answer."/more" = 1', "variant.other.check.{0}"),
        ('drop = ["check.{0}"]', "variant.other.drop[0]"),
        ('drop = ["check.{0}.answer"]', "variant.other.drop[0]"),
    ],
)
def test_a_name_that_several_have_names_none_of_them(
    text: str, whole: Scenario, write: Write, change: str, key: str
) -> None:
    kind = next(one.kind for one in whole.check if one.answer)
    second = f'\n[[check]]\nkind = "{kind}"\noccurrence = 1\nanswer = {{ "/second" = {{ equals = 1, code = "c" }} }}\n'
    with pytest.raises(ScenarioError, match="it is not clear which one is meant") as caught:
        other(write(f"{text}{second}\n[variant.other]\n{change.format(kind)}\n"))
    assert caught.value.key == key.format(kind)


def test_a_list_that_was_left_out_in_part_and_then_replaced_stands_in_the_variant(
    text: str, whole: Scenario, write: Write
) -> None:
    place = whole.workspace.file[0].at[0]
    change = f'drop = [\'workspace.file."{place}"\']\nworkspace.file = [{{ at = ["nowhere/a"], text = "" }}]\n'
    with pytest.raises(ScenarioError) as caught:
        other(write(f"{text}\n[variant.other]\n{change}"))
    assert (caught.value.key or "").startswith("variant.other.workspace.file")
