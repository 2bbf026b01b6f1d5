from __future__ import annotations

from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.documents import DocumentError, yaml_values
from harness.documents.yaml_values import DEPTH_MAX, YamlValue, parse_yaml


def refused(text: str) -> DocumentError:
    with pytest.raises(DocumentError) as raised:
        parse_yaml(text)
    return raised.value


PLAIN = """
text: one
quoted: '1'
folded: >
  a
  b
whole: 12
negative: -3
part: 1.5
yes: true
none: null
empty:
time: 2026-01-02 03:04:05
list: [1, [two, {three: 3}]]
200: a key that is a number
bytes: !!binary aGkA
"""


def test_plain_values_become_what_json_would_say_and_times_stay_texts() -> None:
    assert parse_yaml(PLAIN) == {
        "text": "one",
        "quoted": "1",
        "folded": "a b\n",
        "whole": 12,
        "negative": -3,
        "part": 1.5,
        "yes": True,
        "none": None,
        "empty": None,
        "time": "2026-01-02 03:04:05",
        "list": [1, ["two", {"three": 3}]],
        "200": "a key that is a number",
        "bytes": b"hi\0",
    }


@pytest.mark.parametrize(
    ("text", "value"), [("", None), ("# nothing\n", None), ("plain", "plain"), ("- 1\n- a", [1, "a"])]
)
def test_a_document_may_be_anything(text: str, value: YamlValue) -> None:
    assert parse_yaml(text) == value


def test_an_alias_is_what_it_stands_for() -> None:
    assert parse_yaml("a: &x [1, &y two]\nb: *x\nc: *y") == {"a": [1, "two"], "b": [1, "two"], "c": "two"}
    assert parse_yaml("&k key: *k") == {"key": "key"}


def test_python_s_buffers_iterators_and_tuples_are_read_as_what_they_hold() -> None:
    text = """
    body: !!python/object/new:_io.BytesIO
      state: !!python/tuple [!!binary aGk=, 0, null]
    empty: !!python/object/new:_io.BytesIO {}
    pieces: !!python/object/apply:builtins.iter
      args: [[!!python/str a, !!python/unicode b]]
    """
    assert parse_yaml(text) == {"body": b"hi", "empty": "", "pieces": ["a", "b"]}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\na: 2", 2, "the key 'a' is given twice"),
        ("a: {b: 1, b: 2}", 1, "the key 'b' is given twice"),
        ("a: 1\n<<: {b: 1}", 2, "a merge key, which is not read"),
        ("a: !!python/object/apply:os.system ['true']", 1, "the tag 'tag:yaml.org,2002:python/object/apply:os.system'"),
        ("!local a: 1", 1, "the tag '!local', which is not read"),
        ("a: !local b", 1, "the tag '!local', which is not read"),
        ("a: !!set {b}", 1, "which is not read"),
        ("a: !!int b", 1, "a value that is no int"),
        ("a: 0b_", 1, "a value that is no int"),
        ("a: !!binary é", 1, "a value that is no binary"),
        ("a: !!bool maybe", 1, "a value that is no bool"),
        ("a: *b", 1, "an alias of what does not stand before it"),
        ("a: &a [*a]", 1, "an alias of what does not stand before it"),
        ("? [1]\n: 2", 1, "a key that is no text"),
        ("a: &k b\n*k : 1", 2, "an alias as a key"),
        ("a\n---\nb", 2, "holds several documents"),
        ("a: b: c", 1, "is no YAML: mapping values are not allowed in this context"),
        ("a: [1,", None, "is no YAML"),
        ("a: \x07", None, "is no YAML"),
    ],
)
def test_what_is_not_read_is_told_with_its_line(text: str, line: int | None, problem: str) -> None:
    error = refused(text)
    assert problem in str(error)
    assert line is None or error.line == line


def test_nesting_is_bounded() -> None:
    assert parse_yaml("[" * DEPTH_MAX + "]" * DEPTH_MAX)
    deep = refused("[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1))
    assert (str(deep), deep.allowed) == ("is nested too deeply", f"at most {DEPTH_MAX} levels")
    assert refused("[" * 200_000).problem in {"is nested too deeply", "is no YAML: exceeded maximum nesting depth"}


def test_nesting_through_aliases_is_bounded_too() -> None:
    half = DEPTH_MAX // 2
    lines = [f"a: &a {'[' * half}{']' * half}", f"b: {'[' * half}*a{']' * half}"]
    assert str(refused("\n".join(lines))) == "is nested too deeply"


@pytest.mark.parametrize("leaf", ["x", "x" * 1000])
def test_a_few_lines_of_aliases_do_not_become_gigabytes(leaf: str) -> None:
    lines = [f"a0: &a0 [{leaf}]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    error = refused("\n".join(lines))
    assert str(error) == "is too large once its aliases are followed"
    assert error.line is not None


def test_a_system_without_the_parser_in_c_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_values, "_Loader", yaml.SafeLoader)
    slowly = parse_yaml(PLAIN)
    monkeypatch.undo()
    assert slowly == parse_yaml(PLAIN)
    monkeypatch.setattr(yaml_values, "_Loader", yaml.SafeLoader)
    assert str(refused("a: \x07")).startswith("is no YAML")
    assert str(refused("a: b: c")).startswith("is no YAML")


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(values)
def test_what_was_dumped_is_read_again(value: YamlValue) -> None:
    try:
        text = yaml.safe_dump(value, allow_unicode=True)
    except UnicodeEncodeError:
        return
    assert parse_yaml(text) == value


SIGNS = [
    ":",
    "-",
    "[",
    "]",
    "{",
    "}",
    ",",
    "&a",
    "*a",
    "!!int",
    "!!binary",
    "!x",
    "<<",
    "'",
    '"',
    "|",
    ">",
    "---",
    "...",
    "?",
    "%",
    "@",
    "0b_",
    "0x_",
    "1:3",
    "._",
    "~",
    "\ufeff",
    "2026-13-99",
]
words = st.sampled_from([*SIGNS, "a", "1", " ", "\n", "  ", "- ", ": ", "\t", "é", "\x00"])


@given(st.lists(words, max_size=14).map("".join) | st.text(max_size=20))
def test_no_text_makes_it_fail_in_another_way(text: str) -> None:
    with suppress(DocumentError):
        parse_yaml(text)
