"""Causes come first, and what only follows from them is one sentence."""

from __future__ import annotations

import pytest

from harness.recording import drifts_in, story
from harness.redaction import missing
from harness.schema.receipt import Finding, RedactedText
from harness.schema.recording import Drift, Stale, Wording

PART = "/entry/parts/"
NOT_ASKED = (Drift(stale="not_asked", exchange=1), Drift(stale="not_asked", exchange=2))
NO_ANSWER = Drift(stale="plane_answer", step=1, now=missing())


def causes(*drifts: Drift) -> list[str]:
    return [change.what for change in story(drifts).changes]


def part(name: str, **sides: RedactedText) -> Drift:
    return Drift.model_validate({"stale": "scenario", "pointer": f"{PART}{name}", **sides})


def test_a_changed_prompt_is_told_once_with_its_place_and_what_was_not_reached() -> None:
    digests = Drift(stale="prompt", pointer="/entry/prompt", recorded=RedactedText("a"), now=RedactedText("b"))
    asked = Drift(stale="request", exchange=1, pointer="/messages/0/content", wording=Wording(recorded="a", now="b"))
    told = story((part("prompt.system"), digests, asked, *NOT_ASKED, NO_ANSWER))
    assert [change.what for change in told.changes] == ["the scenario changed: prompt.system", "the prompt changed"]
    assert [place.pointer for place in told.changes[1].places] == ["/messages/0/content"]
    assert told.follows == "so exchanges 1 and 2 and step 1 were not reached"


def test_prompt_and_tools_each_get_their_own_places_of_one_request() -> None:
    asked = [Drift(stale="request", exchange=1, pointer=at) for at in ("/messages/0/content", "/tools/0/function")]
    told = story((Drift(stale="prompt"), Drift(stale="tools"), *asked))
    assert [[place.pointer for place in change.places] for change in told.changes] == [
        ["/messages/0/content"],
        ["/tools/0/function"],
    ]
    (_, other) = story((Drift(stale="tools"), asked[0])).changes
    assert other.what == "the model was asked something else, exchange 1"


def test_an_answer_that_is_passed_on_is_told_once_and_with_the_words_of_the_request() -> None:
    answer = Drift(stale="plane_answer", step=1, pointer="/todo/text", recorded=RedactedText("text of 1 character"))
    words = Wording(recorded="a", now="b")
    passed = Drift(stale="request", exchange=2, pointer="/messages/3/content#/todo/text", wording=words)
    other = Drift(stale="request", exchange=2, pointer="/messages/3/content#/todo")
    told = story((answer, passed, Drift(stale="not_asked", exchange=2), Drift(stale="not_asked", exchange=3)))
    (change,) = told.changes
    assert change.places[0].wording == words
    assert told.follows == "so exchange 2 passed it on, and exchange 3 was not reached"
    assert len(story((answer, other)).changes) == 2
    whole = (answer.model_copy(update={"pointer": ""}), passed.model_copy(update={"pointer": "/messages/3/content"}))
    assert story(whole).follows == "so exchange 2 passed it on"


def test_one_request_more_is_called_so_and_follows_from_what_else_changed() -> None:
    extra = Drift(stale="extra_request", recorded=RedactedText("1"), now=RedactedText("2"))
    assert causes(extra) == ["a second request; the recording has one"]
    told = story((part("limits.model_turns"), extra, Drift(stale="plane_answer", step=2, recorded=missing())))
    assert [change.what for change in told.changes] == ["the scenario changed: limits.model_turns"]
    assert told.follows == (
        "so there was a second request; the recording has one, and step 2 is one more than the recording has"
    )
    far = extra.model_copy(update={"recorded": RedactedText("11"), "now": RedactedText("12")})
    assert causes(far) == ["request 12; the recording has 11"]


def test_what_was_not_met_is_the_cause_where_nothing_else_differs() -> None:
    assert causes(*NOT_ASKED, NO_ANSWER) == [
        "the recorded requests were not asked: exchanges 1 and 2",
        "the control plane was not called: step 1",
    ]
    assert causes(NOT_ASKED[0]) == ["the recorded request was not asked: exchange 1"]
    assert causes(Drift(stale="plane_answer", step=4, recorded=missing())) == [
        "the control plane was called once more than the recording has, step 4"
    ]


def test_parts_are_named_as_a_person_edits_them_and_many_are_counted() -> None:
    come, gone = part("kind[a].needs", recorded=missing()), part("outcomes.limit~1x~0", now=missing())
    assert causes(part("kind[]"), come, gone) == [
        "the scenario changed: the order of kind, kind[a].needs (added), outcomes.limit/x~ (removed)"
    ]
    assert causes(*(part(f"values.v{n}") for n in range(11)))[0].endswith("values.v7 and 3 more")


def test_many_places_of_one_change_are_counted() -> None:
    (change,) = story([Drift(stale="plane_answer", step=1, pointer=f"/{n}") for n in range(10)]).changes
    assert (len(change.places), change.more) == (8, 2)


@pytest.mark.parametrize("stale", ["scenario", "extra_request", "request", "plane_answer"])
def test_a_receipt_tells_the_same_story(stale: Stale) -> None:
    drift = Drift(stale=stale, step=1, exchange=2, pointer="/a", recorded=RedactedText("1"), now=RedactedText("2"))
    finding = Finding(
        code=f"stale_{stale}",
        check="drift",
        step=1,
        exchange=2,
        pointer="/a",
        expected=drift.recorded,
        got=drift.now,
    )
    other = Finding(code="wrong", check="answer")
    assert drifts_in((finding, other)) == (drift,)


def test_texts_without_their_words_are_known() -> None:
    asked = Drift(stale="request", exchange=1, pointer="/a", now=RedactedText("text of 3 characters, sha256:0"))
    assert story((asked,)).unworded
    assert not story((asked.model_copy(update={"wording": Wording(recorded="a", now="b")}),)).unworded
    assert not story((asked.model_copy(update={"now": RedactedText("1")}),)).unworded
