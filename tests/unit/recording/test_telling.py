from __future__ import annotations

from typing import get_args

import pytest
import recorded as rec

from harness.recording import explain, tell
from harness.schema.receipt import RedactedText
from harness.schema.recording import Drift, Stale, Wording

DIGEST = "sha256:" + "0123456789abcdef" * 4


def test_a_drift_tells_cause_place_and_both_values() -> None:
    assert tell(explain(rec.exchange(7, {"a": [1]}), rec.request({"a": [2]}))) == (
        "the model was asked something else, exchange 7",
        "  at        /a/0",
        "  recorded  1",
        "  now       2",
    )


def test_the_whole_is_called_so_and_a_step_is_named() -> None:
    assert tell([Drift(stale="plane_answer", step=3, pointer="")]) == (
        "the control plane answered differently, step 3",
        "  at        the whole",
    )


@pytest.mark.parametrize("width", [20, 80, 140, None])
def test_pointers_and_digests_are_never_broken_and_words_are_folded_to_the_width(width: int | None) -> None:
    pointer = "/messages/12/content#" + "/some-key" * 30
    told = RedactedText("one two " * 30 + DIGEST)
    lines = tell([Drift(stale="request", exchange=1, pointer=pointer, recorded=told)], width)
    assert f"  at        {pointer}" in lines
    assert any("sha256:0123456789ab" in line and "cdef0123" not in line for line in lines)
    too_wide = [line for line in lines if width is not None and len(line) > width and " " in line[12:]]
    assert too_wide == []
    assert (width is not None) or len(lines) == 3


@pytest.mark.parametrize("stale", get_args(Stale))
def test_every_cause_has_words(stale: Stale) -> None:
    assert tell([Drift(stale=stale)])[0].count(" ") >= 2


def test_words_of_texts_are_shown_instead_of_their_shapes() -> None:
    drift = Drift(
        stale="request",
        exchange=1,
        pointer="/a",
        recorded=RedactedText("text of 3 characters"),
        now=RedactedText("text of 4 characters"),
        wording=Wording(recorded="do it", now="do\x1b[2J that"),
    )
    assert tell([drift])[2:] == ("  recorded  “do it”", "  now       “do\ufffd[2J that”")
