from __future__ import annotations

import json

import recorded as rec

from harness.recording import differences, explain, nearest, request_key, stable_body
from harness.recording.matching import place_of
from harness.schema.base import JsonValue
from harness.schema.pointer import pointer

VOLATILE = ("/event/id", "/at")


def said(**answer: JsonValue) -> JsonValue:
    return {"messages": [{"role": "user", "content": "go"}, {"role": "tool", "content": json.dumps(answer)}]}


def test_volatile_values_are_taken_out_of_json_texts_only() -> None:
    assert stable_body(said(event={"id": 1, "n": 2}, at=3), VOLATILE) == {
        "messages": [{"role": "user", "content": "go"}, {"role": "tool", "content": '{"event":{"n":2}}'}]
    }
    own: JsonValue = {"at": 1, "event": {"id": 2}, "t": "at /event/id", "list": ["[1]", "{no json", "{}", 7]}
    assert stable_body(own, VOLATILE) == own


def test_a_text_without_a_volatile_value_keeps_its_spelling() -> None:
    assert stable_body({"t": '{ "b" : 1}'}, VOLATILE) == {"t": '{ "b" : 1}'}


def test_the_given_body_is_not_changed() -> None:
    body = said(at=1)
    before = json.dumps(body)
    stable_body(body, VOLATILE)
    assert json.dumps(body) == before


def test_keys_differ_by_method_path_and_every_stable_value() -> None:
    key = request_key("POST", "/a", said(at=1, x=1), VOLATILE)
    assert key == request_key("POST", "/a", said(at=2, x=1), VOLATILE)
    others = [
        request_key("PUT", "/a", said(at=1, x=1), VOLATILE),
        request_key("POST", "/b", said(at=1, x=1), VOLATILE),
        request_key("POST", "/a", said(at=1, x=True), VOLATILE),
        request_key("POST", "/a", said(at=1, x=1.0), VOLATILE),
        request_key("POST", "/a", said(at=1, x=1)),
    ]
    assert len({key, *others}) == 6


def test_differences_point_into_json_texts_and_skip_volatile_values() -> None:
    one, other = said(at=1, a={"b/c": [1, 2], "d": 1}), said(at=2, a={"b/c": [1, 3], "d": True})
    assert differences(one, other, VOLATILE) == (
        "/messages/1/content#/a/b~1c/1",
        "/messages/1/content#/a/d",
    )
    assert differences(one, other)[0] == "/messages/1/content#/at"


def test_differences_name_what_is_only_in_one_as_a_whole() -> None:
    one: JsonValue = {"a": {"x": 1, "y": 2}, "m": [1, [2, 3]]}
    other: JsonValue = {"b": {"x": 1, "y": 2}, "m": [1]}
    assert differences(one, other) == ("/a", "/m/1", "/b")


def test_differences_tell_sorts_and_spellings_apart() -> None:
    assert differences({"a": 1}, {"a": True}) == ("/a",)
    assert differences({"a": 0.0}, {"a": -0.0}) == ("/a",)
    assert differences({"a": [1]}, {"a": {"0": 1}}) == ("/a",)
    assert differences({"a": '{"x":1}'}, {"a": '{ "x":1}'}) == ("/a",)
    assert differences({"a": '{"x":1}'}, {"a": "[1]"}) == ("/a",)
    assert differences([1], {"0": 1}) == ("",)


def test_no_more_differences_are_given_than_asked_for() -> None:
    one: JsonValue = list(range(20))
    other: JsonValue = list(range(1, 21))
    assert differences(one, other, limit=3) == ("/0", "/1", "/2")
    assert len(differences(one, other)) == 8


def test_a_place_is_a_pointer_to_what_is_there() -> None:
    value: JsonValue = {"a/b": [{"~": 5}]}
    assert place_of(["a/b", 0, "~"]) == "/a~1b/0/~0"
    assert pointer(value, place_of(["a/b", 0, "~"])) == 5


def test_the_nearest_is_the_one_with_the_fewest_differing_leaves() -> None:
    exchanges = [rec.exchange(n, said(turn=n, text="x" * n, big=list(range(5 * n)))) for n in range(1, 6)]
    found = nearest(exchanges, said(turn=3, text="other", big=list(range(15))))
    assert found is exchanges[2]
    assert nearest([], {"a": 1}) is None


def test_an_answer_that_differs_in_much_makes_no_shorter_conversation_nearer() -> None:
    first: JsonValue = {"messages": ["ask"]}
    second: JsonValue = {"messages": ["ask", "call", said(many=list(range(50)))]}
    exchanges = [rec.exchange(1, first), rec.exchange(2, second)]
    asked: JsonValue = {"messages": ["ask", "call", said(many=list(range(50, 100)))]}
    assert nearest(exchanges, asked) is exchanges[1]


def test_of_equally_near_ones_the_first_is_taken_and_volatile_values_do_not_count() -> None:
    exchanges = [rec.exchange(n, said(at=n, n=n)) for n in (1, 2)]
    assert nearest(exchanges, said(at=2, n=3), VOLATILE) is exchanges[0]
    assert nearest(exchanges, said(at=9, n=2), VOLATILE) is exchanges[1]


def test_an_explanation_tells_place_and_both_values_and_fits_a_terminal() -> None:
    one: JsonValue = {"prompt": "Do\nthis\nwell", "n": 1, "gone": [1, 2]}
    drifts = explain(rec.exchange(7, one), rec.request({"prompt": "Do\nthat\nwell", "n": 2, "new": "x"}))
    assert [(drift.pointer, drift.exchange, drift.stale) for drift in drifts] == [
        ("/prompt", 7, "request"),
        ("/n", 7, "request"),
        ("/gone", 7, "request"),
        ("/new", 7, "request"),
    ]
    assert (drifts[0].now or "").endswith(", from line 2")
    assert (drifts[1].recorded, drifts[1].now) == ("1", "2")
    assert (drifts[2].recorded, drifts[2].now) == ("[1, 2]", "nothing")
    assert drifts[3].recorded == "nothing"
    assert all(len(text or "") <= 78 for drift in drifts for text in (drift.recorded, drift.now))
    assert "this" not in str(drifts)


def test_texts_are_shown_where_they_may_be_said() -> None:
    drifts = explain(rec.exchange(1, {"kind": "a"}), rec.request({"kind": "b"}), sayable=frozenset({"a"}))
    assert drifts[0].recorded == '"a"'
    assert (drifts[0].now or "").startswith("text of 1 character, sha256:")


def test_an_equal_request_is_one_drift_without_a_place() -> None:
    drifts = explain(rec.exchange(3, {"a": 1}), rec.request({"a": 1}))
    assert [(drift.exchange, drift.pointer) for drift in drifts] == [(3, None)]
