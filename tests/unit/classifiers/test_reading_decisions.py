"""An answer is exactly one JSON object, or there is a word for why it is none."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.classifiers._decision.reading import UNREADABLE, Unreadable, read_object

OBJECT = '{"a": {"b": [1, true, null]}}'


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty_answer"),
        (" \r\n\t ", "empty_answer"),
        (OBJECT[:-1], "not_json"),  # cut off
        ('{"a": 1,}', "not_json"),
        ("{'a': 1}", "not_json"),
        ('{"a": NaN}', "not_json"),
        ('{"a": -Infinity}', "not_json"),
        ('{"a": 1e999}', "not_json"),
        ('{"a": ' + "9" * 5_000 + "}", "not_json"),
        ('{"a": ' + "[" * 9_000, "not_json"),
        ("I would wait.", "not_json"),
        ("I would {wait}.", "not_json"),
        ("null", "no_object"),
        ("[" + OBJECT + "]", "no_object"),
        ('"' + "{}" + '"', "no_object"),
        (f"```json\n{OBJECT}\n```", "text_around"),
        (f"Here it is: {OBJECT}", "text_around"),
        (f"{OBJECT} Done.", "text_around"),
        (f"{OBJECT} {{", "text_around"),
        (f"1 {OBJECT}", "text_around"),
        ("﻿" + OBJECT, "text_around"),
        (OBJECT + OBJECT, "several_objects"),
        (f"{OBJECT}\n\n{OBJECT} and more", "several_objects"),
        ('{"a": 1, "a": 1}', "duplicated_key"),
        ('{"a": {"b": 1, "b": 2}}', "duplicated_key"),
        ('{"a": [{"b": 1, "b": 2}]}', "duplicated_key"),
        ('{"a": 1, "a": 1', "not_json"),
        ('{"a": 1, "a": 1} {"a": 1}', "several_objects"),
        ('{"a": ' + "[" * 200 + "]" * 200 + "}", "nested_too_deeply"),
        (OBJECT + " " * 20_000, "answer_too_long"),
    ],
)
def test_what_is_not_one_object_has_a_word(text: str, word: str) -> None:
    assert read_object(text, 20_000) == word


def test_white_space_may_stand_around_it() -> None:
    assert read_object(f"\n\t {OBJECT} \r\n", 100) == json.loads(OBJECT)


def test_it_may_be_exactly_as_long_as_is_allowed() -> None:
    assert read_object(OBJECT, len(OBJECT)) == json.loads(OBJECT)
    assert read_object(OBJECT, len(OBJECT) - 1) == "answer_too_long"


def test_every_word_is_told() -> None:
    assert get_args(Unreadable) == UNREADABLE


@given(st.text() | st.text(alphabet='{}[]":,ab1 \\\n', max_size=40))
def test_any_text_is_read_or_has_a_word(text: str) -> None:
    read = read_object(text, 1_000)
    if isinstance(read, str):
        assert read in UNREADABLE
    else:
        assert json.loads(text) == read


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=4), _JSON, max_size=4))
def test_every_object_is_read_as_it_was_written(value: dict[str, object]) -> None:
    assert read_object(json.dumps(value), 100_000) == value
