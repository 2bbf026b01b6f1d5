"""Constants of files that people write: what is only equal to one of them, as ``true`` is to 1, is refused."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from pydantic import TypeAdapter, ValidationError

import harness.classifiers
import harness.schema
from harness.schema.base import OF_ITS_TYPE, Frozen, Plain
from harness.schema.detectors import DetectorSpec
from harness.schema.policy import Policy
from harness.schema.rules import AnswerCheck


def modules() -> Iterator[str]:
    for room in (harness.schema, harness.classifiers):
        yield from (one.name for one in pkgutil.walk_packages(room.__path__, f"{room.__name__}."))


def kinds(of: type[object]) -> Iterator[type[object]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def unguarded(hint: object) -> bool:
    """Whether a constant that is no text stands in it bare."""
    if get_origin(hint) is Literal:
        return any(not isinstance(value, str) for value in get_args(hint))
    inner = get_args(hint)
    return OF_ITS_TYPE not in inner and any(map(unguarded, inner))


def test_no_field_takes_what_is_only_equal_to_its_constant() -> None:
    for name in modules():
        importlib.import_module(name)
    found = {
        f"{kind.__name__}.{name}"
        for base in (Frozen, Plain)
        for kind in kinds(base)
        if kind.__module__.startswith("harness.")
        for name, hint in get_type_hints(kind, include_extras=True).items()
        if unguarded(hint)
    }
    assert not found


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (Policy, '{"schema": 1}', ('{"schema": true}', '{"schema": 1.0}')),
        (AnswerCheck, '{"empty": true, "absent": true}', ('{"empty": 1}', '{"absent": 1.0}')),
        (DetectorSpec, '{"malformed": false}', ('{"malformed": 0}', '{"malformed": 0.0}', '{"malformed": true}')),
    ],
)
def test_a_constant_is_taken_as_it_is_written(kind: type[Frozen], right: str, wrong: tuple[str, ...]) -> None:
    adapter = TypeAdapter(kind)
    adapter.validate_json(right)
    for text in wrong:
        with pytest.raises(ValidationError, match=r"of another type|Input should be"):
            adapter.validate_json(text)
