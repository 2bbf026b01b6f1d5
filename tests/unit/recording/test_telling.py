from __future__ import annotations

from typing import get_args

import pytest
import recorded as rec

from harness.recording import explain, tell
from harness.schema.receipt import RedactedText
from harness.schema.recording import Drift, DriftCause


def test_a_drift_tells_cause_place_and_both_values() -> None:
    (drift,) = explain(rec.exchange(7, {"a": [1]}), rec.request({"a": [2]}))
    assert tell(drift) == (
        "the model was asked something else, exchange 7",
        "  at        /a/0",
        "  recorded  1",
        "  now       2",
    )


def test_the_whole_is_called_so_and_a_step_is_named() -> None:
    assert tell(Drift(cause="plane_answer", step=3, pointer="")) == (
        "the control plane answered differently, step 3",
        "  at        the whole",
    )


@pytest.mark.parametrize("width", [20, 80])
def test_no_line_is_too_wide_and_a_long_pointer_stays_whole(width: int) -> None:
    pointer = "/messages/12/content#" + "/some_key" * 30
    lines = tell(Drift(cause="request", exchange=1, pointer=pointer), width)
    assert max(map(len, lines)) <= width
    start = next(at for at, line in enumerate(lines) if line.startswith("  at"))
    assert "".join(line[12:] for line in lines[start:]) == pointer


@pytest.mark.parametrize("cause", get_args(DriftCause))
def test_every_cause_has_words(cause: DriftCause) -> None:
    assert tell(Drift(cause=cause))[0].count(" ") >= 2


def test_of_a_digest_twelve_digits_are_told_and_words_and_keys_stay_whole() -> None:
    digest = "sha256:" + "0123456789abcdef" * 4
    pointer = "/messages/12/content#/" + "/".join(["goal_identifier"] * 8)
    lines = tell(
        Drift(cause="prompt", pointer=pointer, recorded=RedactedText(digest), now=RedactedText("one two " * 20))
    )
    assert "  recorded  sha256:0123456789ab" in lines
    cut = [line[12:].rstrip() for line in lines[1:] if not line.startswith("  recorded")]
    assert all(part.endswith(("goal_identifier/", "goal_identifier", "one", "two")) for part in cut), cut
    assert max(map(len, lines)) <= 80
