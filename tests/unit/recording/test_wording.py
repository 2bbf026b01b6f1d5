from __future__ import annotations

import json

import pytest
import recorded as rec
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ReplayMismatchError
from harness.recording import Replayer, explain
from harness.recording.wording import wording
from harness.redaction import Scrubber
from harness.schema.base import JsonValue
from harness.schema.recording import Wording

KEY = "sk-canary-0123456789"


def test_the_words_around_the_first_difference_are_shown() -> None:
    before, after = "first words, " * 9, ", last words" * 9
    found = wording(f"{before}a single one{after}", f"{before}one\n{after}")
    assert found is not None
    assert found.recorded.startswith("…words, first words, ")
    assert "words, a single one, last" in found.recorded
    assert "words, one\\n, last" in found.now
    assert found.recorded.endswith("…")
    assert wording("same", "same") is None


@given(st.text(max_size=300), st.text(max_size=300))
def test_words_are_short_printable_and_show_a_difference(one: str, other: str) -> None:
    found = wording(one, other)
    assert (found is None) == (one == other)
    if found is not None:
        assert found.recorded != found.now
        assert all(text.isprintable() and len(text) <= 1200 for text in (found.recorded, found.now))


def test_words_are_given_only_with_a_scrub_and_never_hold_a_key() -> None:
    recorded = rec.exchange(1, {"said": f"old {KEY} text", "tool": json.dumps({"a": "b c"})})
    asked = rec.request({"said": f"new {KEY} text", "tool": json.dumps({"a": "b d"})})
    assert [drift.wording for drift in explain(recorded, asked)] == [None, None]
    found = explain(recorded, asked, scrub=Scrubber([KEY]).json)
    assert [drift.wording for drift in found] == [
        Wording(recorded="old [mask] text", now="new [mask] text"),
        Wording(recorded="b c", now="b d"),
    ]
    assert KEY not in str(found)


def test_where_only_a_key_differs_no_words_are_shown() -> None:
    other = "sk-another-987654321"
    (drift,) = explain(rec.exchange(1, {"a": KEY}), rec.request({"a": other}), scrub=Scrubber([KEY, other]).json)
    assert drift.wording is None


@pytest.mark.parametrize("scrubbed", [True, False])
def test_a_replay_shows_words_only_where_it_was_given_a_scrub(scrubbed: bool) -> None:
    made = rec.recording([rec.exchange(1, {"a": "one"})])
    asked = rec.request({"a": "two"})

    def same(value: JsonValue) -> JsonValue:
        return value

    replayer = Replayer(made, scrub=same if scrubbed else None)
    with pytest.raises(ReplayMismatchError):
        replayer.take(asked, "sha256:other")
    assert (replayer.drifts[0].wording is not None) == scrubbed
