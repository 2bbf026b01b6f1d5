"""Control calls are read whatever they hold; what is declared to the actor is what is taken."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.control import control_tools, read_claim, unsupported
from harness.schema.base import JsonValue
from harness.schema.control import CONTROL_NAMES, ControlName, FinalizeClaim
from harness.schema.tool import ToolCall

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(st.characters(codec=None))
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
KEYS = st.sampled_from(("code", "text", "summary", "completion", "status", "metrics", "other"))
WORDS = st.sampled_from(("external_dependency", "decision_required", "completed", "Help.", ""))


def read(name: ControlName, arguments: dict[str, JsonValue]) -> bool:
    call = ToolCall(id="1", name=name, arguments_raw=json.dumps(arguments), arguments=arguments)
    return read_claim(name, call, argument_bytes=1_000_000) is not None


@given(st.sampled_from(CONTROL_NAMES), st.dictionaries(KEYS, VALUES | WORDS))
def test_any_arguments_are_taken_or_refused_and_what_is_taken_fits_what_is_declared(
    name: ControlName, arguments: dict[str, JsonValue]
) -> None:
    if read(name, arguments):
        (declared,) = control_tools([name])
        assert Draft202012Validator(declared.parameters).is_valid(arguments)


@pytest.mark.parametrize("name", CONTROL_NAMES)
def test_a_declaration_is_a_closed_schema(name: ControlName) -> None:
    (declared,) = control_tools([name])
    Draft202012Validator.check_schema(declared.parameters)
    assert (declared.name, declared.parameters["additionalProperties"]) == (name, False)
    assert declared.description


CLAIMS = st.builds(
    FinalizeClaim,
    summary=st.just("Done."),
    completion=st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4).map(tuple),
    artifacts=st.lists(st.just("a"), max_size=2).map(tuple),
)


@given(CLAIMS, st.integers(min_value=1))
def test_as_soon_as_something_ran_nothing_is_refused(claim: FinalizeClaim, executed: int) -> None:
    assert unsupported(claim, executed=executed) == ()
    assert ("artifacts" in unsupported(claim, executed=0)) == bool(claim.artifacts)
