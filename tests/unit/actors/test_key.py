"""An API key never shows."""

from __future__ import annotations

import copy
import pickle

import pytest

from harness.actors._key import SecretKey
from harness.errors import UsageError


def test_no_way_to_print_a_key_shows_it() -> None:
    key = SecretKey("canary-key\n", "MY_KEY")
    assert [str(key), repr(key), f"{key}", f"{key:>9}", f"{[key]}"] == ["***", "***", "***", "***", "[***]"]
    assert key.reveal() == "canary-key"


def test_a_key_cannot_be_pickled_or_copied() -> None:
    key = SecretKey("canary-key", "MY_KEY")
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="never pickled"):
            attempt(key)


@pytest.mark.parametrize("text", ["", "  ", "can ary", "canary\r\nx: y", "canaryé"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(UsageError, match="MY_KEY") as caught:
        SecretKey(text, "MY_KEY")
    assert "canary" not in str(caught.value)
