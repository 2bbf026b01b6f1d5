from __future__ import annotations

import tomllib

import pytest

from harness.documents.locating import line_of, lines
from harness.scenario.problem import KeyPath, dotted, nearest

ODD = r'''# a comment with [brackets] and "quotes"
top = 1 # trailing
"quoted key" = "a # b"
'single' = 'c:\path'
a.b . c = true

[table]
long = """
[not.a.table]
key = "no key" \""" ""still inside
"""
raw = """""" # empty
marks = """two quotes at the end"""""
lit = \'\'\'
[[no]]
\'\'\'
when = 1979-05-27 07:32:00Z
list = [
  1, # one
  [ "x", { deep = [ 2,
    3 ] } ],
]
inline = { x = 1, "y z" = { w = "}" }, v = [] }

[[many]]
name = "first"
[many.sub]
k = 1
[[many.inner]]
k = 2
[[many.inner]]
k = 3
[[many]]
name = "second"
[many."od.d"]
k = 4
'''.replace(r"\'\'\'", "'''")


def paths(value: object, path: KeyPath = ()) -> list[KeyPath]:
    found = [path] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += paths(inner, (*path, str(key)))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += paths(inner, (*path, index))
    return found


def test_everything_that_toml_finds_has_a_line() -> None:
    assert sorted(map(str, lines(ODD))) == sorted(map(str, paths(tomllib.loads(ODD))))


@pytest.mark.parametrize(
    ("path", "begins"),
    [
        (("top",), "top ="),
        (("quoted key",), '"quoted key"'),
        (("single",), "'single'"),
        (("a", "b", "c"), "a.b . c"),
        (("table",), "[table]"),
        (("table", "long"), "long ="),
        (("table", "raw"), "raw ="),
        (("table", "marks"), "marks ="),
        (("table", "lit"), "lit ="),
        (("table", "when"), "when ="),
        (("table", "list", 0), "  1, # one"),
        (("table", "list", 1, 1, "deep"), "  [ "),
        (("table", "list", 1, 1, "deep", 1), "    3"),
        (("table", "inline", "y z", "w"), "inline ="),
        (("many",), "[[many]]"),
        (("many", 0, "sub"), "[many.sub]"),
        (("many", 1), "[[many]]"),
        (("many", 1, "od.d", "k"), "k = 4"),
    ],
)
def test_line_is_where_the_key_or_element_stands(path: KeyPath, begins: str) -> None:
    line = lines(ODD)[path]
    assert ODD.splitlines()[line - 1].startswith(begins)


def test_elements_of_an_array_of_tables_stand_on_their_own_lines() -> None:
    found = lines(ODD)
    assert found[("many", 0, "inner", 0)] + 2 == found[("many", 0, "inner", 1)]
    assert found[("many", 0)] < found[("many", 0, "inner", 1, "k")] < found[("many", 1)]


def test_line_of_something_that_is_not_there_is_that_of_what_is_around_it() -> None:
    found = lines(ODD)
    assert line_of(found, ("many", 1, "gone", 3)) == found[("many", 1)]
    assert line_of(found, ("gone",)) == 1
    assert line_of(found, ()) == 1


def test_a_table_that_only_headers_below_it_name_is_where_the_first_of_them_is() -> None:
    found = lines("a = 1\n[outer.one]\nx = 1\n[outer.two]\ny = 2\n")
    assert line_of(found, ("outer",)) == 2
    assert line_of(found, ("outer", "three")) == 1


def test_windows_line_ends_count_once() -> None:
    assert lines("a = 1\r\nb = 2\r\n") == {("a",): 1, ("b",): 2}


@pytest.mark.parametrize("text", ["a = 1\n= 2", "a = 1\n[", "a = 1\nb = [1, 2", "a = 1\nb = {", "a = 1\n]"])
def test_text_that_is_no_toml_is_read_as_far_as_it_goes(text: str) -> None:
    assert lines(text)[("a",)] == 1


def test_path_is_written_as_people_write_it() -> None:
    assert dotted(("kind", 2, "with", "goal-id")) == "kind[2].with.goal-id"
    assert dotted(("check", 0, "answer", "/a/b")) == 'check[0].answer."/a/b"'
    assert dotted(()) == ""


def test_nearest_names_a_close_word_only() -> None:
    assert nearest("onec", ["once", "needs"]) == "; did you mean 'once'?"
    assert nearest("qqq", ["once", "needs"]) == ""
