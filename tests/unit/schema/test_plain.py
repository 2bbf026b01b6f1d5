"""Values that the loop makes: plain where they are made, strict where one is read."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import sys

import pytest
from pydantic import TypeAdapter, ValidationError

from harness.schema import record, trace
from harness.schema.base import Plain, fields_of
from harness.schema.observation import Channel
from harness.schema.process import Completed

ONE = Completed(exit_code=0, stdout=b"a", stderr=b"", stdout_seen=1, stderr_seen=0)


def test_each_is_a_dataclass_with_slots() -> None:
    # by name, for the class that was decorated may live on for a while beside what was made of it
    kinds = {getattr(sys.modules[kind.__module__], kind.__name__) for kind in Plain.__subclasses__()}
    assert {record.Opened, trace.TraceStep} <= kinds
    for kind in kinds:
        assert kind.__slots__ == tuple(field.name for field in dataclasses.fields(kind) if field.kw_only), kind


def test_equal_ones_are_one_in_a_set_and_travel_between_processes() -> None:
    other = dataclasses.replace(ONE, exit_code=0)
    assert {ONE, other} == {ONE}
    assert dataclasses.replace(ONE, exit_code=1) != ONE
    assert pickle.loads(pickle.dumps(ONE)) == ONE == copy.deepcopy(ONE)  # noqa: S301  (our own)


def test_where_one_is_read_nothing_is_converted_and_nothing_may_be_added() -> None:
    read = TypeAdapter(Channel)
    whole = b'{"seen":3,"retained":1,"dropped":2,"truncated":true,"unit":"chars"}'
    assert read.validate_json(whole) == Channel.counted(3, 1, "chars")
    for wrong in (
        whole.replace(b"3", b'"3"'),
        whole.replace(b"{", b'{"more":1,', 1),
        whole.replace(b"chars", b"words"),
    ):
        with pytest.raises(ValidationError):
            read.validate_json(wrong)


def test_an_encoder_is_given_its_fields_and_nothing_of_anything_else() -> None:
    assert fields_of(Channel.counted(3, 1)) == {
        "seen": 3,
        "retained": 1,
        "dropped": 2,
        "truncated": True,
        "unit": "bytes",
    }
    with pytest.raises(TypeError, match="set is no value of ours"):
        fields_of({1})
