"""Values of TOML and JSON texts: what is out of bounds is refused, with its place, in bounded time."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from harness.documents import DEPTH_MAX, DocumentError, parse_json, parse_toml

NINES = "9" * 5_000
PARSERS: dict[str, tuple[Callable[[str], JsonValue], str]] = {
    "toml": (parse_toml, "a = {}"),
    "json": (parse_json, '{{"a": {}}}'),
}


def refused(parse: Callable[[str], JsonValue], text: str) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize("dialect", PARSERS)
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (NINES, "a number that is too large"),
        (str(2**53), "a number that is too large"),
        (str(-(2**53)), "a number that is too large"),
        ("1e400", "not a finite number"),
        ("[" * 100_000, "is nested too deeply"),
        ("[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1), "is nested too deeply"),
    ],
    ids=["5000 digits", "2**53", "-2**53", "1e400", "endless nesting", "one level too many"],
)
def test_a_value_out_of_bounds_is_refused(dialect: str, value: str, problem: str) -> None:
    parse, form = PARSERS[dialect]
    assert refused(parse, form.format(value)).problem == problem


@pytest.mark.parametrize("dialect", PARSERS)
def test_the_bounds_themselves_are_read(dialect: str) -> None:
    parse, form = PARSERS[dialect]
    deepest = "[" * (DEPTH_MAX - 1) + "]" * (DEPTH_MAX - 1)
    for value in (str(2**53 - 1), str(-(2**53) + 1), "1e300", deepest):
        assert parse(form.format(value)) == {"a": json.loads(value)}


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "0x" + "f" * 5_000])
def test_numbers_that_only_toml_can_say_are_refused_with_their_key(value: str) -> None:
    assert refused(parse_toml, f"[t]\na = [1, {value}]").path == ("t", "a", 1)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_words_that_are_no_json_are_refused(word: str) -> None:
    assert f"{word} is not JSON" in str(refused(parse_json, f"[{word}]"))


def test_a_number_of_thousands_of_digits_names_its_line() -> None:
    assert refused(parse_toml, f"a = 1\nb = {NINES}").line == 2
    assert refused(parse_json, f"[\n\n{NINES}]").line == 3


@pytest.mark.parametrize(
    "text",
    [".".join(["a"] * 300_000) + " = 1", "x = 1\n[" + " . ".join(["'a'"] * 100_000) + "]"],
    ids=["key", "header"],
)
def test_a_dotted_key_without_an_end_is_refused_before_the_reader_tries_it(text: str) -> None:
    assert refused(parse_toml, text).problem == "is nested too deeply"


def test_a_text_with_many_dots_is_no_dotted_key() -> None:
    assert parse_toml(f'a = "{"." * 5_000}"') == {"a": "." * 5_000}
    assert parse_toml(f"a = '{'Well... ' * 500}'") == {"a": "Well... " * 500}


def test_a_key_that_is_given_twice_is_refused() -> None:
    assert refused(parse_json, '{"a": {"b": 1, "b": 2}}').problem == "the key 'b' is given twice"


def test_text_that_is_neither_names_its_line() -> None:
    assert (refused(parse_json, "[1,\n}").line, refused(parse_toml, "a = 1\nb").line) == (2, 2)
    assert refused(parse_toml, "a = 2026-01-01").problem == "2026-01-01 is a date or time"


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53) + 1, 2**53 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_every_value_within_bounds_comes_back(value: JsonValue) -> None:
    assert parse_json(json.dumps(value)) == value


@given(st.text(alphabet='[]{}"=.,-+e0123456789abcNI\n\\ '))
def test_any_text_is_a_value_or_refused(text: str) -> None:
    for parse, _ in PARSERS.values():
        with contextlib.suppress(DocumentError):
            parse(text)
