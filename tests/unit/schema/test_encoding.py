"""An encoder that is made once writes what one that is made each time does."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.schema import base
from harness.schema.base import JsonValue, digest_bytes, encoding

VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ASCII, SPACED = encoding(), encoding(separators=(", ", ": "), ensure_ascii=False, allow_nan=True)


@given(VALUES)
def test_it_writes_what_the_standard_library_writes(value: JsonValue) -> None:
    assert ASCII(value) == json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    assert SPACED(value) == json.dumps(value, sort_keys=True, ensure_ascii=False)


def test_halves_of_characters_and_numbers_that_are_none_are_written_or_refused_alike() -> None:
    assert ASCII("\ud800") == '"\\ud800"'
    assert SPACED("\ud800") == '"\ud800"'
    assert SPACED(float("inf")) == "Infinity"
    with pytest.raises(ValueError, match="not JSON compliant"):
        ASCII([float("inf")])
    with pytest.raises(TypeError, match="set is not JSON serializable"):
        ASCII({"a": {1}})


def test_a_value_of_another_type_is_asked_for_what_is_written_instead() -> None:
    assert encoding(default=lambda value: [str(value)])({"a": 1j}) == '{"a":["1j"]}'


def test_a_python_without_the_encoder_in_c_writes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    value: JsonValue = {"b": [1, "\u00fc"], "a": None}
    with_it = encoding()(value)
    monkeypatch.setattr(base, "_make_encoder", None)
    assert encoding()(value) == with_it


def test_digests_do_not_depend_on_those_before_them() -> None:
    empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert [digest_bytes(data) for data in (b"", b"a", b"")][::2] == [empty, empty]
