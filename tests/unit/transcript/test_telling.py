from __future__ import annotations

import json

import pytest
import recorded as rec
from pydantic import JsonValue

from harness.recording import Dress
from harness.schema.recording import Exchange, PlaneAnswer
from harness.schema.transcript import Passage, Transcript
from harness.transcript import transcript


def told(*exchanges: Exchange, answers: tuple[PlaneAnswer, ...] = (), text_bytes: int | None = None) -> Transcript:
    return transcript(rec.recording(exchanges, answers), "file", size=9, text_bytes=text_bytes)


def words(passages: tuple[Passage, ...]) -> list[tuple[str, str, str]]:
    return [(one.speaker, one.about, one.text) for one in passages]


def asking(*messages: JsonValue) -> dict[str, JsonValue]:
    return {"messages": list(messages)}


def user(text: JsonValue) -> dict[str, JsonValue]:
    return {"role": "user", "content": text}


def calling(*names: str, text: str | None = None) -> dict[str, JsonValue]:
    calls: list[JsonValue] = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in names]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def replying(message: JsonValue, finish: str | None = None) -> JsonValue:
    return {"choices": [{"message": message, "finish_reason": finish}]}


def answer(step: int) -> PlaneAnswer:
    return rec.answer(step, "look", None, {"text": "kept", "n": step})


def test_a_request_is_told_by_what_is_new_in_it() -> None:
    first = user("Go.")
    then: JsonValue = {"role": "tool", "tool_call_id": "a", "content": "ok"}
    made = told(
        rec.exchange(1, asking(first), replying(calling("a"), "tool_calls")),
        rec.exchange(2, asking(first, calling("a"), then), replying({"content": "Done."}, "stop")),
    )
    assert words(made.turns[0].asked) == [("user", "", "Go.")]
    assert words(made.turns[0].said) == [("model", "calls a (a)", "{}"), ("provider", "finish tool_calls", "")]
    assert words(made.turns[1].asked) == [("tool", "result of a", "ok")]
    assert words(made.turns[1].said)[0] == ("model", "says", "Done.")


def test_a_reply_that_is_sent_back_changed_is_told_again() -> None:
    made = told(
        rec.exchange(1, asking(user("Go.")), replying(calling("a", text="Hm."))),
        rec.exchange(2, asking(user("Go."), calling("b")), replying(None)),
    )
    assert words(made.turns[1].asked) == [("model", "calls b (b)", "{}")]


def test_a_request_asked_again_says_nothing_new_and_one_with_another_past_says_all_from_there() -> None:
    made = told(
        rec.exchange(1, asking(user("a"), user("b")), replying({"content": "x"})),
        rec.exchange(2, asking(user("a"), user("b")), replying({"content": "x"})),
        rec.exchange(3, asking(user("a"), user("c"), user("d")), replying({"content": "x"})),
    )
    assert [words(turn.asked) for turn in made.turns] == [
        [("user", "", "a"), ("user", "", "b")],
        [],
        [("user", "", "c"), ("user", "", "d")],
    ]


def test_what_the_plane_answered_stands_below_the_reply_that_called_for_it_and_nothing_is_lost() -> None:
    made = told(
        rec.exchange(1, asking(user("a")), replying(calling("a", "b"))),
        rec.exchange(2, asking(user("a"), user("b")), replying(calling("c"))),
        answers=(answer(1), answer(2), answer(3), answer(9)),
    )
    assert [[one.about[:6] for one in turn.answers] for turn in made.turns] == [
        ["step 1", "step 2"],
        ["step 3", "step 9"],
    ]
    (first, *_) = made.turns[0].answers
    assert first.about == "step 1, look, did not end by itself"
    assert json.loads(first.text) == {"text": "kept", "n": 1}


def test_each_text_knows_its_line_in_the_file() -> None:
    made = rec.recording([rec.exchange(1, asking(user("one")), replying({"content": "two"}))], [answer(1)])
    (turn,) = transcript(made, "file", size=1).turns
    assert [one.line for one in (*turn.asked, *turn.said, *turn.answers)] == [2, 2, 3]


@pytest.mark.parametrize(("text", "shown"), [("a" * 9, "a" * 8), ("é" * 9, "é" * 4), ("€" * 3, "€" * 2), ("ab", "ab")])
def test_a_long_text_is_cut_between_characters_and_tells_its_size(text: str, shown: str) -> None:
    (turn,) = told(rec.exchange(1, asking(user(text)), replying(None)), text_bytes=8).turns
    (one,) = turn.asked
    assert (one.text, one.shown, one.size) == (shown, len(shown.encode()), len(text.encode()))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": ""}, [("model", "says nothing", "")]),
        ({"content": None, "refusal": "No."}, [("model", "refuses", "No.")]),
        ({"reasoning_content": "Hm.", "content": "Yes."}, [("model", "thinks", "Hm."), ("model", "says", "Yes.")]),
        ({"content": [{"type": "text", "text": "a"}, {"type": "odd"}]}, [("model", "says", 'a\n{"type": "odd"}')]),
        ({"tool_calls": ["odd", {"id": 1}]}, [("model", "calls", "odd"), ("model", "calls", '{"id": 1}')]),
        ({"tool_calls": [{"function": {"name": "f"}}]}, [("model", "calls f", "")]),
    ],
)
def test_replies_of_every_form_are_told(message: JsonValue, said: list[tuple[str, str, str]]) -> None:
    (turn,) = told(rec.exchange(1, asking(user("a")), replying(message))).turns
    assert words(turn.said) == said


@pytest.mark.parametrize("body", [[], "text", {"error": {"message": "no"}}, {"choices": []}, {"choices": ["x"]}])
def test_an_answer_that_holds_no_reply_is_told_as_it_is(body: JsonValue) -> None:
    (turn,) = told(rec.exchange(1, asking(user("a")), body)).turns
    text = body if isinstance(body, str) else json.dumps(body)
    assert words(turn.said) == [("provider", "HTTP 200", text)]


def test_an_outage_is_told_with_its_status() -> None:
    dress = Dress()
    asked = dress.request("POST", "/", {}, b'{"messages": []}')
    busy = dress.response(429, {}, json.dumps(replying({"content": "x"})).encode())
    (turn,) = told(dress.exchange(1, asked, busy)).turns
    assert words(turn.said)[0][:2] == ("provider", "HTTP 429")


def test_messages_of_other_dialects_and_odd_ones_are_told_as_far_as_they_are_known() -> None:
    tools: JsonValue = [{"name": "one"}, {"function": {"name": "two"}}, {"function": {}}, "odd"]
    body: JsonValue = {
        "input": ["text", {"role": "developer", "content": "d"}, {"role": 1, "content": {"n": 1}}, {"role": "tool"}],
        "tools": tools,
    }
    made = told(rec.exchange(1, body, None), rec.exchange(2, {"other": 1}, None), rec.exchange(3, "raw", None))
    assert words(made.turns[0].asked) == [
        ("harness", "offers", "one, two"),
        ("user", "", "text"),
        ("system", "", "d"),
        ("user", "", '{"n": 1}'),
        ("tool", "", ""),
    ]
    assert [words(turn.asked) for turn in made.turns[1:]] == [[("user", "", '{"other": 1}')], [("user", "", "raw")]]
