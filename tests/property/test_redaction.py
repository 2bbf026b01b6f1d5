"""No text that the scenario does not hold survives redaction, and the guard finds a secret however it is dressed."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from harness.errors import RedactionError
from harness.redaction import SecretGuard, name, value, workspace_path
from harness.redaction.text import SHOWN_MAX

CANARY = "qZ7canaryQz7"
DECLARED = ["project/fixture/a.json", "runtime/goals/**", "home"]
SAYABLE = frozenset({"bounded_delivery", "contains", "private_read", ""})

around = st.text(max_size=6)
tainted = st.builds(lambda left, right: left + CANARY + right, around, around)
words = st.sampled_from(sorted(SAYABLE)) | st.text(max_size=12) | tainted
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
values: st.SearchStrategy[JsonValue] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4), max_leaves=12
)
parts = st.sampled_from(["project", "fixture", "a.json", "runtime", "goals", "home", "..", ""]) | tainted
paths = st.lists(parts, min_size=1, max_size=5).map("/".join)
secrets = st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=40).filter(
    lambda s: len(s.strip()) >= 8
)


@given(values)
def test_no_canary_survives_in_a_value(given_value: JsonValue) -> None:
    shown = value(given_value, SAYABLE)
    assert CANARY not in shown
    assert len(shown) <= SHOWN_MAX
    assert shown.isprintable()


@given(values)
def test_no_text_is_said_that_the_scenario_does_not_hold(given_value: JsonValue) -> None:
    """The only quoted texts in what is shown are sayable ones."""
    shown = value(given_value, SAYABLE)
    try:
        said: JsonValue = json.loads(shown)
    except ValueError:
        return
    assert _texts(said) <= SAYABLE


@given(paths)
def test_no_canary_survives_in_a_path_or_a_name(path: str) -> None:
    assert CANARY not in workspace_path(path, DECLARED)
    assert CANARY not in name(path, DECLARED) or path in DECLARED


@given(values, paths)
def test_redaction_is_a_function_of_what_it_is_given(given_value: JsonValue, path: str) -> None:
    assert value(given_value, SAYABLE) == value(json.loads(json.dumps(given_value)), SAYABLE)
    assert workspace_path(path, DECLARED) == workspace_path(path, [*reversed(DECLARED), *DECLARED])


@given(words)
def test_redacting_a_second_time_changes_nothing_for_names_and_reveals_nothing_for_values(text: str) -> None:
    once = name(text, {"exec_command"})
    assert name(once, {"exec_command"}) == once
    assert CANARY not in value(value(text, SAYABLE), SAYABLE)


@given(secrets, st.binary(max_size=9), st.binary(max_size=9), st.sampled_from([76, 20, 7]))
def test_the_guard_finds_a_secret_in_base64_at_any_alignment_and_line_width(
    secret: str, before: bytes, after: bytes, width: int
) -> None:
    encoded = base64.b64encode(before + secret.strip().encode() + after)
    lines = b"\n".join(encoded[at : at + width] for at in range(0, len(encoded), width))
    with pytest.raises(RedactionError):
        SecretGuard([secret]).check(encoded)
    with pytest.raises(RedactionError):
        SecretGuard([secret]).check(lines)


@given(secrets, around.filter(str.isprintable))
def test_the_guard_finds_a_secret_as_text_json_url_and_hex(secret: str, text: str) -> None:
    guard = SecretGuard([secret])
    whole = secret.strip()
    dressed = (
        whole,
        json.dumps([text + whole]),
        json.dumps([whole + text], ensure_ascii=False),
        json.dumps(json.dumps(whole)),
        quote(whole, safe=""),
        whole.encode().hex(),
    )
    for form in dressed:
        with pytest.raises(RedactionError):
            guard.check(form.encode())


@given(st.binary(max_size=200))
def test_the_guard_lets_other_bytes_pass(data: bytes) -> None:
    secret = "qZ7canaryQz7-that-nobody-draws"
    guard = SecretGuard([secret])
    assert [refuses(guard, data), refuses(guard, data + secret.encode())] == [False, True]


def refuses(guard: SecretGuard, data: bytes) -> bool:
    try:
        guard.check(data)
    except RedactionError:
        return True
    return False


def _texts(said: JsonValue) -> set[str]:
    if isinstance(said, str):
        return {said}
    if isinstance(said, list):
        return set().union(*map(_texts, said))
    if isinstance(said, dict):
        return set(said).union(*map(_texts, said.values()))
    return set()
