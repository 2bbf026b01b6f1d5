"""The gate answers before anything runs, in our words only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.gate import check_declared, check_decoded, check_permitted, check_schema, check_size
from harness.schema.base import JsonValue
from harness.schema.scenario import PolicySpec
from harness.schema.tool import CallFault, ToolCall, ToolSpec

SPEC = ToolSpec(
    name="run",
    description="Runs.",
    parameters={
        "type": "object",
        "properties": {"cmd": {"type": "string"}},
        "required": ["cmd"],
        "additionalProperties": False,
    },
)


def call(raw: str, arguments: dict[str, JsonValue] | None, fault: CallFault | None = None) -> ToolCall:
    return ToolCall(id="1", name="run", arguments_raw=raw, arguments=arguments, fault=fault)


#: The schema of a command tool, and schemas that only look like it.
TEXTS: dict[str, JsonValue] = dict(SPEC.parameters)
LIKE_IT: tuple[dict[str, JsonValue], ...] = (
    TEXTS,
    {**TEXTS, "properties": {"cmd": {"type": "string", "maxLength": 2}}},
    {**TEXTS, "properties": {"cmd": {"type": "string"}, "more": {"type": "string"}}},
    {**TEXTS, "properties": {"cmd": {"type": "integer"}}},
    {**TEXTS, "properties": {"cmd": True}},
    {**TEXTS, "properties": {}},
    {**TEXTS, "required": []},
    {**TEXTS, "required": ["more"]},
    {**TEXTS, "maxProperties": 0},
    {**TEXTS, "additionalProperties": True},
    {**TEXTS, "additionalProperties": {"type": "string"}},
    {key: value for key, value in TEXTS.items() if key != "required"},
    {key: value for key, value in TEXTS.items() if key != "properties"},
)


@pytest.mark.parametrize("parameters", LIKE_IT)
@given(arguments=st.dictionaries(st.sampled_from(["cmd", "more"]), st.sampled_from(["", "long", 3, True, None])))
def test_what_needs_no_validator_is_what_the_validator_says(
    parameters: dict[str, JsonValue], arguments: dict[str, JsonValue]
) -> None:
    spec = ToolSpec(name="run", description="Runs.", parameters=parameters)
    fits = check_schema(call("{}", arguments), spec, argument_bytes=100) is None
    assert fits is Draft202012Validator(parameters).is_valid(arguments)


def test_arguments_that_are_none_go_to_the_validator() -> None:
    stop = check_schema(call("[]", None), SPEC, argument_bytes=100)
    assert stop is not None
    assert stop.source == "type"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("malformed_arguments", "its arguments are not one JSON object in which each key stands once"),
        ("truncated", "it was cut off before its end"),
    ],
)
def test_undecoded_arguments_are_a_parse_error(fault: CallFault, why: str) -> None:
    stop = check_decoded(call('{"cmd": "canary', None, fault))
    assert stop is not None
    assert (stop.code, stop.source, stop.text) == ("parse_error", fault, f"error: the call did not run: {why}")


def test_a_truncated_call_is_refused_even_where_its_arguments_could_be_read() -> None:
    assert check_decoded(call("{}", {}, "truncated")) is not None


def test_arguments_that_are_no_object_are_a_parse_error() -> None:
    stop = check_decoded(call("[]", None))
    assert stop is not None
    assert stop.source == "not_an_object"


def test_decoded_arguments_go_on() -> None:
    assert check_decoded(call("{}", {})) is None


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({}, "required"),
        ({"cmd": 3}, "type"),
        ({"cmd": "x", "more": 1}, "additionalProperties"),
    ],
)
def test_arguments_that_break_the_schema_are_invalid(arguments: dict[str, JsonValue], rule: str) -> None:
    stop = check_schema(call("{}", arguments), SPEC, argument_bytes=100)
    assert stop is not None
    assert (stop.code, stop.source) == ("invalid_arguments", rule)


def test_the_size_bound_counts_utf8_bytes_and_includes_its_limit() -> None:
    raw = '{"cmd":"é"}'
    size = len(raw.encode())
    assert check_schema(call(raw, {"cmd": "é"}), SPEC, argument_bytes=size) is None
    stop = check_schema(call(raw, {"cmd": "é"}), SPEC, argument_bytes=size - 1)
    assert stop is not None
    assert stop.source == "size"


def test_names_are_exact() -> None:
    assert check_declared("run", [SPEC]) is None
    stop = check_declared("Run", [SPEC])
    assert stop is not None
    assert stop.code == "unknown_tool"


def test_denied_wins_over_allowed() -> None:
    stop = check_permitted("run", PolicySpec(allowed=("run",), denied=("run",)))
    assert stop is not None
    assert (stop.code, stop.source) == ("denied_policy", "denied_list")


def test_what_is_not_on_a_given_allowed_list_is_denied() -> None:
    stop = check_permitted("run", PolicySpec(allowed=("other",)))
    assert stop is not None
    assert stop.source == "allowed_list"
    assert check_permitted("run", PolicySpec(allowed=("run",))) is None
    assert check_permitted("run", PolicySpec()) is None


def test_the_size_is_asked_without_the_schema() -> None:
    large = check_size(call("é" * 3, {}), argument_bytes=5)
    assert large is not None
    assert (large.code, large.source) == ("invalid_arguments", "size")
    assert check_size(call("é" * 3, {}), argument_bytes=6) is None
