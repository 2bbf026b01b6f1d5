"""What a reply says about itself is checked before any of its calls can run."""

from __future__ import annotations

import pytest
from numbered import case
from toy import FEW_TOKENS, ReplyActor, Stage, called, said

from harness.errors import ProviderCategory, ProviderError, ScriptExhaustedError
from harness.ports import TurnContext
from harness.schema.base import JsonValue
from harness.schema.message import FinishReason, ModelRequest, Quirk, Reply, ToolMessage, Usage
from harness.schema.tool import ToolCall


@case(68)
def test_a_finish_that_announces_calls_without_any_is_invalid(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([said("", finish="tool_calls")]))
    assert played.receipt.outcome.name == "failed/invalid_model_response"
    assert played.receipt.outcome.detail == "finish_mismatch"
    assert (played.receipt.verdict, played.receipt.cause) == ("fail", "model")


@case(69)
def test_two_calls_with_one_id_run_neither(stage: Stage) -> None:
    actor = ReplyActor([said("", called("toy ask plane", id_="x"), called("ls", id_="x"))])
    played = stage.play(actor=actor)
    assert played.receipt.outcome.detail == "ids"
    assert played.receipt.steps == ()
    assert played.plane[0].calls == [("greet",)]


@case(70)
def test_an_id_used_in_an_earlier_turn_is_invalid_where_ids_are_strict(stage: Stage) -> None:
    actor = ReplyActor([said("", called("ls", id_="x")), said("", called("pwd", id_="x"))])
    played = stage.play(change={"strict": {"ids": "fail"}}, actor=actor)
    assert played.receipt.outcome.detail == "ids"
    assert len(played.receipt.steps) == 1


def test_an_id_that_each_turn_has_anew_is_that_of_its_own_turn(stage: Stage) -> None:
    """The kind of a019."""
    asked = [called("ls", id_="exec:0"), called("toy ask plane", id_="exec:0")]
    actor = ReplyActor([*(said("", call) for call in asked), said("Bye.")])
    played = stage.play(actor=actor)
    assert [(step.turn, step.result) for step in played.receipt.steps] == [(1, "succeeded"), (2, "succeeded")]
    joined = actor.requests[-1].messages[-4:]
    assert [type(message).__name__ for message in joined] == ["AssistantMessage", "ToolMessage"] * 2
    assert joined[1] != joined[3]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        pytest.param("length", "model_output_truncated", marks=case(71)),
        pytest.param("refusal", "model_refusal", marks=case(72)),
        pytest.param("content_filter", "content_filtered", marks=case(72)),
    ],
)
def test_a_cut_off_refused_or_filtered_reply_ends_the_episode(stage: Stage, finish: FinishReason, reason: str) -> None:
    played = stage.play(actor=ReplyActor([said("Half a sent", finish=finish)]))
    assert played.receipt.outcome.reason == reason
    assert (played.receipt.verdict, played.receipt.failure_code) == ("fail", reason)


def test_a_truncated_call_is_never_run(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([said("", called("toy ask plane"), finish="length")]))
    assert played.receipt.outcome.reason == "model_output_truncated"
    assert played.receipt.steps == ()


@case(73)
@pytest.mark.parametrize("finish", ["unknown", "pause", "error", None])
def test_nothing_at_all_is_never_a_quiet_success(stage: Stage, finish: FinishReason | None) -> None:
    played = stage.play(actor=ReplyActor([said("", finish=finish)]))
    assert played.receipt.outcome.detail == "empty"
    assert played.receipt.verdict == "fail"


def test_broken_arguments_are_answered_and_the_model_may_go_on(stage: Stage) -> None:
    broken = ToolCall(id="b", name="exec", arguments_raw='{"cmd', arguments=None, fault="malformed_arguments")
    actor = ReplyActor([said("", broken), said("", called("toy ask plane")), said("Bye.")])
    played = stage.play(actor=actor)
    assert [step.result for step in played.receipt.steps] == ["parse_error", "succeeded"]
    assert played.receipt.steps[0].kind is None
    answered = actor.requests[1].messages[-1]
    assert isinstance(answered, ToolMessage)
    assert answered.failed


def test_broken_arguments_never_drop_their_neighbours(stage: Stage) -> None:
    broken = ToolCall(id="b", name="exec", arguments_raw="[1]", arguments=None, fault="malformed_arguments")
    actor = ReplyActor([said("", broken, called("toy ask plane")), said("Bye.")])
    assert [step.result for step in stage.play(actor=actor).receipt.steps] == ["parse_error", "succeeded"]


def test_an_unknown_tool_is_answered_with_what_there_is(stage: Stage) -> None:
    actor = ReplyActor([said("", called("ls", name="shell-canary")), said("Bye.")])
    played = stage.play(actor=actor)
    assert [step.result for step in played.receipt.steps] == ["unknown_tool"]
    assert played.receipt.steps[0].tool == "undeclared"
    assert "canary" not in played.result.model_dump_json()
    answered = actor.requests[1].messages[-1]
    assert isinstance(answered, ToolMessage)
    assert "there are: exec" in answered.text


def test_an_argument_that_is_not_declared_is_invalid_and_does_not_run(stage: Stage) -> None:
    call = ToolCall(id="b", name="exec", arguments_raw="{}", arguments={"cmd": "ls", "workdir": "/"})
    played = stage.play(actor=ReplyActor([said("", call), said("Bye.")]))
    assert [(step.result, step.executed) for step in played.receipt.steps] == [("invalid_arguments", False)]


def test_a_call_that_did_not_run_does_not_use_up_what_may_come_once(stage: Stage) -> None:
    odd = ToolCall(id="a", name="exec", arguments_raw="{}", arguments={"cmd": "toy ask plane", "timeout": 1})
    again, last = called("toy ask plane", id_="b"), called("toy ask plane", id_="c")
    played = stage.play(actor=ReplyActor([said("", odd), said("", again), said("", last)]))
    assert [(step.result, step.code) for step in played.receipt.steps] == [
        ("invalid_arguments", None),
        ("succeeded", None),
        ("skipped_due_to_stop", "asked_twice"),
    ]


def test_a_command_that_is_no_text_is_invalid(stage: Stage) -> None:
    call = ToolCall(id="b", name="exec", arguments_raw="{}", arguments={"cmd": ["ls"]})
    played = stage.play(actor=ReplyActor([said("", call), said("Bye.")]))
    assert [step.result for step in played.receipt.steps] == ["invalid_arguments"]


@pytest.mark.parametrize(
    ("kind", "call", "reason", "detail"),
    [
        (
            "parse",
            ToolCall(id="b", name="exec", arguments_raw="{", arguments=None, fault="malformed_arguments"),
            "invalid_model_response",
            "arguments",
        ),
        ("unknown_tool", called("ls", name="other"), "invalid_model_response", "undeclared"),
        (
            "arguments",
            ToolCall(id="b", name="exec", arguments_raw="{}", arguments={"cmd": 1}),
            "invalid_arguments",
            "type",
        ),
    ],
)
def test_a_strict_scenario_ends_with_a_call_that_cannot_run(
    stage: Stage, kind: str, call: ToolCall, reason: str, detail: str
) -> None:
    played = stage.play(actor=ReplyActor([said("", call)]), change={"strict": {kind: "fail"}})
    assert (played.receipt.outcome.reason, played.receipt.outcome.detail) == (reason, detail)
    assert played.receipt.verdict == "fail"


@pytest.mark.parametrize(
    ("kind", "bad", "detail"),
    [
        (
            "parse",
            ToolCall(id="b", name="exec", arguments_raw="{", arguments=None, fault="malformed_arguments"),
            "arguments",
        ),
        ("unknown_tool", called("ls", name="other", id_="b"), "undeclared"),
    ],
)
def test_a_strict_scenario_runs_nothing_of_a_reply_with_a_call_that_cannot_be_read(
    stage: Stage, kind: str, bad: ToolCall, detail: str
) -> None:
    actor = ReplyActor([said("", called("toy ask plane"), bad)])
    played = stage.play(actor=actor, change={"strict": {kind: "fail"}})
    assert (played.receipt.outcome.reason, played.receipt.outcome.detail) == ("invalid_model_response", detail)
    assert (played.receipt.steps, played.plane[0].calls) == ((), [("greet",)])


def test_a_call_without_an_id_is_invalid(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([said("", called("ls", id_=""))]))
    assert (played.receipt.outcome.detail, played.receipt.steps) == ("ids", ())


@pytest.mark.parametrize(("finish", "quirks"), [("stop", ()), ("tool_calls", ("finish_stop_with_tool_calls",))])
def test_calls_that_the_finish_does_not_announce_run_unless_the_scenario_is_strict(
    stage: Stage, finish: FinishReason, quirks: tuple[Quirk, ...]
) -> None:
    reply = Reply(text="", calls=(called("ls"),), finish=finish, usage=FEW_TOKENS, quirks=quirks)
    played = stage.play(actor=ReplyActor([reply, said("Bye.")]))
    assert [step.result for step in played.receipt.steps] == ["succeeded"]
    strict = stage.play(actor=ReplyActor([reply]), change={"strict": {"finish": "fail"}})
    assert (strict.receipt.outcome.detail, strict.receipt.steps) == ("finish_mismatch", ())


def test_calls_that_the_finish_announces_run_where_the_scenario_is_strict(stage: Stage) -> None:
    actor = ReplyActor([said("", called("ls")), said("Bye.")])
    played = stage.play(actor=actor, change={"strict": {"finish": "fail"}})
    assert played.receipt.outcome.name == "completed/final_response"


def test_a_denied_tool_is_answered_and_not_started(stage: Stage) -> None:
    actor = ReplyActor([said("", called("ls")), said("Bye.")])
    played = stage.play(actor=actor, change={"policy": {"denied": ["exec"]}})
    assert [(step.result, step.executed) for step in played.receipt.steps] == [("denied_policy", False)]
    strict: dict[str, JsonValue] = {"policy": {"denied": ["exec"]}, "strict": {"policy": "fail"}}
    played = stage.play(actor=ReplyActor([said("", called("ls"))]), change=strict)
    assert (played.receipt.outcome.reason, played.receipt.outcome.detail) == ("permission_denied", "denied_list")


def test_more_calls_than_allowed_run_none(stage: Stage) -> None:
    calls = [called("ls", id_=str(number)) for number in range(3)]
    played = stage.play(actor=ReplyActor([said("", *calls)]), change={"limits": {"tool_calls": 2}})
    outcome = played.receipt.outcome
    assert (outcome.name, outcome.observed, outcome.attempted) == ("limit_exceeded/tool_calls", 0, 3)
    assert played.receipt.steps == ()
    assert played.receipt.verdict == "fail"


def test_a_final_text_beyond_its_bound_is_an_exceeded_limit(stage: Stage) -> None:
    played = stage.play(actor=ReplyActor([said("é" * 6)]), change={"limits": {"output_bytes": 11}})
    assert (played.receipt.outcome.reason, played.receipt.outcome.overshoot) == ("output_size", 1)
    assert stage.play(
        actor=ReplyActor([said("é" * 5)]), change={"limits": {"output_bytes": 11}}
    ).receipt.outcome.name == ("completed/final_response")


def test_tokens_beyond_a_limit_leave_the_reply_unused(stage: Stage) -> None:
    usage = Usage(input_tokens=10, output_tokens=2, cache_read_tokens=0)
    actor = ReplyActor([said("", called("toy ask plane"), usage=usage)])
    played = stage.play(actor=actor, change={"limits": {"total_tokens": 10}})
    assert (played.receipt.outcome.reason, played.receipt.outcome.overshoot) == ("total_tokens", 2)
    assert played.receipt.steps == ()
    assert (played.receipt.verdict, played.receipt.cause) == ("not_judged", "harness")


def test_a_reply_without_usage_under_a_token_limit_is_not_used(stage: Stage) -> None:
    actor = ReplyActor([said("", called("toy ask plane"), usage=None)])
    played = stage.play(actor=actor, change={"limits": {"total_tokens": 10}})
    assert (played.receipt.outcome.reason, played.receipt.outcome.detail) == (
        "metric_unavailable",
        "total_tokens:usage_missing",
    )


def test_reaching_the_token_limit_exactly_admits_no_further_turn(stage: Stage) -> None:
    usage = Usage(input_tokens=8, output_tokens=2, cache_read_tokens=0)
    actor = ReplyActor([said("", called("toy ask plane"), usage=usage), said("never asked")])
    played = stage.play(actor=actor, change={"limits": {"total_tokens": 10}})
    assert played.receipt.outcome.reason == "total_tokens"
    assert [step.kind for step in played.receipt.steps] == ["ask"]
    assert len(actor.requests) == 1


PROVIDER: dict[ProviderCategory, tuple[str, str | None, str, str]] = {
    "auth": ("model_error", "auth", "not_judged", "provider"),
    "quota_exhausted": ("model_error", "rate_limited", "not_judged", "provider"),
    "rate_limited": ("model_error", "rate_limited", "not_judged", "provider"),
    "overloaded": ("model_error", "server", "not_judged", "provider"),
    "server_error": ("model_error", "server", "not_judged", "provider"),
    "connection_lost": ("model_error", "transport", "not_judged", "provider"),
    "stream_incomplete": ("model_error", "transport", "not_judged", "provider"),
    "timeout": ("model_error", "transport", "not_judged", "provider"),
    "invalid_request": ("model_error", "protocol", "not_judged", "provider"),
    "model_not_found": ("model_error", "protocol", "not_judged", "provider"),
    "bad_response": ("model_error", "protocol", "not_judged", "provider"),
    "content_filter": ("content_filtered", None, "fail", "model"),
    "malformed_tool_call": ("invalid_model_response", "arguments", "fail", "model"),
}


@pytest.mark.parametrize("category", PROVIDER)
def test_a_provider_error_always_leaves_a_receipt(stage: Stage, category: ProviderCategory) -> None:
    def fails(_: ModelRequest, __: TurnContext) -> Reply:
        raise ProviderError(category, "made up", http_status=500)

    played = stage.play(actor=ReplyActor([fails]))
    outcome = played.receipt.outcome
    got = (outcome.reason, outcome.detail, played.receipt.verdict, played.receipt.cause)
    assert got == PROVIDER[category]
    assert (played.result.log.attempts[0].error, played.result.log.attempts[0].http_status) == (category, 500)
    assert played.result.log.problem == f"{category}: made up"


def test_an_attempt_that_never_left_gives_its_turn_back(stage: Stage) -> None:
    def fails(_: ModelRequest, __: TurnContext) -> Reply:
        raise ProviderError("connection_lost", "refused", sent=False)

    played = stage.play(actor=ReplyActor([fails]))
    assert played.receipt.counters.model_turns == 0
    assert played.result.log.attempts[0].status == "not_sent"


def test_earlier_steps_stay_in_the_receipt_of_a_later_provider_error(stage: Stage) -> None:
    def fails(_: ModelRequest, __: TurnContext) -> Reply:
        raise ProviderError("server_error", "made up")

    played = stage.play(actor=ReplyActor([said("", called("toy ask plane")), fails]))
    assert [step.kind for step in played.receipt.steps] == ["ask"]
    assert played.receipt.verdict == "not_judged"


def test_a_bug_in_an_actor_is_not_hidden(stage: Stage) -> None:
    def bug(_: ModelRequest, __: TurnContext) -> Reply:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stage.play(actor=ReplyActor([bug]))
    assert list(stage.temporary.iterdir()) == []


@case(200)
def test_an_exhausted_script_says_at_which_turn(stage: Stage) -> None:
    def over(_: ModelRequest, __: TurnContext) -> Reply:
        raise ScriptExhaustedError(0)

    played = stage.play(actor=ReplyActor([over]))
    assert (played.receipt.outcome.reason, played.receipt.outcome.detail) == ("script_exhausted", "turn_1")
    assert played.receipt.cause == "scenario"


def test_the_conversation_grows_by_reply_and_results(stage: Stage) -> None:
    actor = ReplyActor([said("Asking.", called("toy ask plane")), said("Bye.")])
    stage.play(actor=actor)
    roles = [message.role for message in actor.requests[1].messages]
    assert roles == ["system", "user", "assistant", "tool"]
    assert actor.requests[0].messages[1].text == "Good morning: ask, then read."


@pytest.mark.parametrize(
    ("answered", "told"),
    [
        ("toy/model", "toy/model"),
        ("toy/model-2026-01-05", "toy/model-2026-01-05"),
        ("toy/model@3", "toy/model@3"),
        ("canary-anything", None),
        ("toy/model-canary", None),
        ("toy/model" + "-1" * 40, None),
    ],
)
def test_what_a_provider_calls_itself_is_told_only_as_a_version_of_what_was_asked(
    stage: Stage, answered: str, told: str | None
) -> None:
    """The provider chooses these texts: they may hold anything, a secret too."""
    reply = said("Bye.").model_copy(update={"model": answered, "fingerprint": "canary-print"})
    played = stage.play(actor=ReplyActor([reply]))
    row = played.result.log.attempts[0]
    assert row.model is not None
    assert row.model == told or (told is None and row.model.startswith("sha256:"))
    assert "canary" not in played.result.model_dump_json()


def test_half_a_surrogate_pair_anywhere_in_a_reply_leaves_a_receipt(stage: Stage) -> None:
    """JSON can carry one; UTF-8 cannot."""
    odd = "\ud800"
    call = ToolCall(id=odd, name=odd, arguments_raw=odd, arguments=None, fault="malformed_arguments")
    last = said(f"Bye{odd}").model_copy(update={"model": odd, "fingerprint": odd, "finish_word": odd})
    actor = ReplyActor([said(odd, call, called(f"cat {odd}", id_="2")), last])
    played = stage.play(actor=actor)
    assert [step.result for step in played.receipt.steps] == ["unknown_tool", "skipped_due_to_stop"] or (
        played.receipt.failure_code == "unexpected_command"
    )
    assert played.receipt.verdict == "fail"
    assert played.result.model_dump_json()
