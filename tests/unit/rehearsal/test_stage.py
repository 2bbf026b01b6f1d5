from __future__ import annotations

import json

import pytest
from rehearsing import CHAT, CODEC, CODECS, ask, header, policy_file, scenario, stage

from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.rehearsal.dialects import Endpoints
from harness.rehearsal.performance import Performance
from harness.rehearsal.stage import Stage
from harness.schema.base import JsonValue
from harness.schema.message import Reply

PACKET = json.dumps({"target": "notes/a.json"})


def decoded(play: Performance) -> Reply:
    return CODEC.decode_reply(WireResponse(play.status, play.headers, play.body))


def commands(reply: Reply) -> list[object]:
    return [call.arguments and call.arguments.get("cmd") for call in reply.calls]


def refused(play: Performance) -> str:
    assert play.call is None
    assert play.fault is None
    error = json.loads(play.body)["error"]
    return f"{play.status} {error['code']}: {error['message']}"


def test_a_value_of_the_prompt_is_taken_from_the_user_message() -> None:
    reply = decoded(stage().perform(CHAT, header(), ask()))
    assert commands(reply) == ["toy ask plane"]
    assert (reply.calls[0].name, reply.calls[0].id, reply.finish, reply.quirks) == (
        "exec",
        "call-1-1",
        "tool_calls",
        (),
    )


def test_a_value_of_an_answer_is_taken_from_the_newest_packet_that_has_it() -> None:
    older, odd = json.dumps({"target": "older"}), json.dumps({"target": 1})
    body = ask(older, PACKET, odd, "[]", "no json", "[" * 5000)
    reply = decoded(stage().perform(CHAT, header(turn=2), body))
    assert (commands(reply), reply.text) == (["cat notes/a.json"], "Reading notes/a.json.")


def test_usage_is_explicit_and_counts_words() -> None:
    usage = decoded(stage().perform(CHAT, header(), ask())).usage
    assert usage is not None
    # "system", "Be brief.", "user", and the prompt; {"cmd":"toy ask plane"}
    assert (usage.input_tokens, usage.output_tokens) == (1 + 2 + 1 + 6, 3)
    assert (usage.cache_read_tokens, usage.reasoning_tokens) == (0, 0)
    body = ask("two words")
    more = decoded(stage().perform(CHAT, header(), body)).usage
    assert more is not None
    assert more.input_tokens == 10 + 4


_FAULTS: list[JsonValue] = [{"kind": kind, "at_turn": turn} for turn, kind in ((2, "truncate"), (3, "no_usage"))]


def _with_steady_texts() -> Stage:
    """Scripts that name no value, played by several models in two scenarios, with faults that change answers."""
    says: JsonValue = [{"content": "Half of this is left."}] * 3
    scripts: JsonValue = {"right": {"said": says, "told": ["date", "date -u", "date"]}}
    policies: dict[str, dict[str, JsonValue]] = {"said": {"script": "right:said"}, "told": {"script": "right:told"}}
    faulty = policy_file({name: policy | {"fault": _FAULTS} for name, policy in policies.items()})
    other = scenario(script=scripts, id="toy/other")
    return Stage([scenario(script=scripts), other], faulty, 0, Endpoints([*CODECS.values()]))


def test_what_was_asked_before_changes_no_answer() -> None:
    requests = [
        (
            header(turn, trial, of=of),
            ask(*shown, model=model, stream=stream, stream_options={"include_usage": counted}),
        )
        for of in ("toy/ask-then-read", "toy/other")
        for turn in (1, 2, 3)
        for trial in (1, 2)
        for model in ("said", "told", "all")
        for shown in ((), ("some more words",))
        for stream, counted in ((False, False), (True, False), (True, True))
    ]
    apart = [_with_steady_texts().perform(CHAT, who, body) for who, body in requests]
    assert len({play.body for play in apart}) > 40
    one = _with_steady_texts()
    for _ in range(2):
        assert [one.perform(CHAT, who, body) for who, body in requests] == apart


def test_two_turns_differ_in_bytes_and_the_same_turn_does_not() -> None:
    first = stage("wrong:did_nothing").perform(CHAT, header(), ask())
    assert first == stage("wrong:did_nothing").perform(CHAT, header(), ask())
    assert first.call is not None
    assert first.call.model_dump() == {
        "dialect": "openai",
        "streamed": False,
        "model": "m",
        "visit": {"scenario": "toy/ask-then-read", "trial": 1, "turn": 1, "attempt": 1, "again": 0},
        "policy": "m",
        "fault": None,
        "latency_ms": 0.0,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 3,
            "cache_read_tokens": 0,
            "cache_write_tokens": None,
            "reasoning_tokens": 0,
        },
    }


def test_replacements_are_made_after_the_values_are_in_place_and_other_braces_stay() -> None:
    reply = decoded(stage("wrong:replaced").perform(CHAT, header(), ask()))
    assert commands(reply) == ["toy tell notes/a.json {other}"]
    told = refused(stage("wrong:replaced").perform(CHAT, header(turn=2), ask(PACKET)))
    assert "a text that the script replaces is not in its answer" in told


def test_several_calls_with_own_ids_usage_and_finish() -> None:
    reply = decoded(stage("wrong:called").perform(CHAT, header(), ask()))
    assert [call.id for call in reply.calls] == ["call-1-1", "mine"]
    assert reply.calls[0].arguments == {"cmd": "cat notes/a.json", "deep": [{"x": "toy ask plane"}, 1, None]}
    assert reply.usage is not None
    assert reply.usage.input_tokens == 7
    assert reply.finish_word == "stop"


def test_raw_answers_and_failures_of_a_script_are_played() -> None:
    play = stage("wrong:odd")
    assert play.perform(CHAT, header(1), ask()).body == b"<oops>"
    assert json.loads(play.perform(CHAT, header(2), ask()).body) == {"error": {"message": "no"}}
    message = json.loads(play.perform(CHAT, header(3), ask()).body)["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "", "tool_calls": []}
    assert [play.perform(CHAT, header(turn), ask()).fault for turn in (4, 5)] == ["hang", "reset"]


def test_a_value_that_no_request_shows_is_refused_and_told() -> None:
    lost = refused(stage("wrong:lost").perform(CHAT, header(), ask()))
    assert lost == "400 rehearsal_unresolved: policy m, turn 1: the value {greeting} is not shown by this request"
    assert "{named} is not shown" in refused(stage().perform(CHAT, header(turn=2), ask("nothing")))
    worldly = stage("wrong:worldly")
    assert "{project_root} is known to the machine" in refused(worldly.perform(CHAT, header(), ask()))
    assert "{turn_id} is known to the machine" in refused(worldly.perform(CHAT, header(turn=2), ask()))


def test_a_command_needs_one_tool() -> None:
    one = scenario()
    two = one.model_copy(update={"tool": {**one.tool, "other": one.tool["exec"]}})
    made = Stage([two], policy_file({"m": {"script": "reference"}}), 0, Endpoints([CODEC]))
    assert "one tool; this one has 2" in refused(made.perform(CHAT, header(), ask()))


@pytest.mark.parametrize("given", [None, "", "scenario=x"])
def test_a_request_without_the_header_is_told_what_to_send(given: str | None) -> None:
    told = refused(stage().perform(CHAT, given, ask()))
    assert told.startswith("400 rehearsal_header: ")
    assert "x-harness-rehearsal: scenario=PACK/NAME;trial=N;turn=N;attempt=N" in told


def test_what_cannot_be_played_is_refused_in_the_dialects_form() -> None:
    play = stage(scenarios=["toy/ask-*"])
    assert (
        refused(play.perform(CHAT, header(), b"nonsense")) == "400 invalid_body: the body is no request of this dialect"
    )
    assert "plays: toy/ask-then-read" in refused(play.perform(CHAT, header(of="a/b"), ask()))
    assert "400 rehearsal_script_exhausted: policy m has 2 answers" in refused(
        play.perform(CHAT, header(turn=3), ask())
    )
    unknown = play.perform(CHAT, header(), ask(model="x"))
    assert refused(unknown) == "404 model_not_found: there is no such model; there are: m, all"
    with pytest.raises(ProviderError) as caught:
        decoded(unknown)
    assert (caught.value.category, caught.value.retryable) == ("model_not_found", False)
    assert play.models == ("m", "all")


@pytest.mark.parametrize(
    ("status", "category"), [(429, "rate_limited"), (500, "server_error"), (503, "overloaded"), (401, "auth")]
)
def test_a_status_fault_is_an_error_of_that_status(status: int, category: str) -> None:
    fault: dict[str, JsonValue] = {"kind": "status", "status": status, "rate": 1, "retry_after_s": 1.5}
    play = stage(fault=[fault]).perform(CHAT, header(), ask())
    with pytest.raises(ProviderError) as caught:
        decoded(play)
    assert (caught.value.http_status, caught.value.category) == (status, category)
    assert caught.value.retry_after_s == 1.5
    assert play.call is not None
    assert (play.call.fault, play.call.usage) == ("status", None)


def test_a_status_fault_need_not_tell_when_to_come_back() -> None:
    play = stage(fault=[{"kind": "status", "status": 429, "rate": 1}]).perform(CHAT, header(), ask())
    assert "retry-after" not in play.headers


def test_html_is_a_page_with_status_200() -> None:
    play = stage(fault=[{"kind": "html", "rate": 1}]).perform(CHAT, header(), ask())
    assert (play.status, play.headers["content-type"]) == (200, "text/html; charset=utf-8")
    with pytest.raises(ProviderError, match="a web page"):
        decoded(play)


def test_a_truncated_answer_is_half_of_one_and_says_so() -> None:
    cut: JsonValue = [{"kind": "truncate", "rate": 1}]
    call = decoded(stage(fault=cut).perform(CHAT, header(turn=2), ask(PACKET)))
    assert (call.finish, call.text) == ("length", "Reading no")
    assert (call.calls[0].fault, call.calls[0].arguments_raw) == ("truncated", '{"cmd":"cat n')
    spoken = decoded(stage("wrong:did_nothing", fault=cut).perform(CHAT, header(), ask()))
    assert (spoken.finish, spoken.text, spoken.calls) == ("length", "Nothing", ())
    raw = stage("wrong:odd", fault=cut).perform(CHAT, header(), ask())
    assert raw.body == b"<oo"


def test_an_answer_without_usage_is_whole_otherwise() -> None:
    play = stage(fault=[{"kind": "no_usage", "rate": 1}]).perform(CHAT, header(), ask())
    reply = decoded(play)
    assert (commands(reply), reply.usage) == (["toy ask plane"], None)
    assert play.call is not None
    assert (play.call.fault, play.call.usage) == ("no_usage", None)


@pytest.mark.parametrize("kind", ["reset", "hang"])
def test_a_broken_connection_counts_no_usage(kind: str) -> None:
    play = stage(fault=[{"kind": kind, "rate": 1}]).perform(CHAT, header(), ask())
    assert play.call is not None
    assert (play.fault, play.call.fault, play.call.usage) == (kind, kind, None)


def test_a_fault_of_a_turn_hits_its_first_attempts_only() -> None:
    play = stage("right:slowly", fault=[{"kind": "reset", "at_turn": 2, "attempts": 2}])
    hit = [
        (turn, attempt)
        for turn in (1, 2)
        for attempt in (1, 2, 3)
        if play.perform(CHAT, header(turn, 1, attempt), ask()).fault
    ]
    assert hit == [(2, 1), (2, 2)]


def test_latency_is_fixed_or_within_its_bounds() -> None:
    assert stage(latency_ms=5).perform(CHAT, header(), ask()).latency_ms == 5
    play = stage(latency_ms=[10, 20])
    drawn = [play.perform(CHAT, header(trial=trial), ask()).latency_ms for trial in range(1, 200)]
    assert len(set(drawn)) > 190
    assert 10 <= min(drawn) < 11
    assert 19 < max(drawn) < 20
