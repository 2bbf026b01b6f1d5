"""A scripted actor: its actions go through the wire form of the provider."""

from __future__ import annotations

from dataclasses import replace

import pytest
from numbered import case

from harness.actors.scripted import ScriptedActor, build
from harness.errors import ProviderError, ScriptError, ScriptExhaustedError
from harness.ports import TurnContext
from harness.providers.openai import build as codec
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import JsonValue
from harness.schema.message import ModelRequest, Reply, Usage, UserMessage
from harness.schema.rehearsal import Visit
from harness.schema.script import Action, ScriptCall
from harness.schema.tool import ToolSpec


def tool(name: str, parameters: dict[str, JsonValue]) -> ToolSpec:
    return ToolSpec(name=name, description="", parameters=parameters)


def text_tool(name: str, parameter: str) -> ToolSpec:
    return tool(name, {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]})


SHELL = text_tool("exec_command", "cmd")
OTHER = tool("finish", {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]})
ZEROS = dict.fromkeys(Usage.model_fields, 0)


def substitute(text: str) -> str:
    if "{later}" in text:
        raise ScriptExhaustedError(0, "placeholder later is not known yet")
    return text.replace("{root}", "/w/project")


VISIT = Visit(scenario="pack/name", trial=1, turn=1, attempt=1)
CONTEXT = TurnContext(turn=1, deadline_s=1.0, cancelled=lambda: False, substitute=substitute, visit=VISIT)


def actor(*script: str | Action) -> ScriptedActor:
    identity = ActorIdentity(ref="script", kind="script", digest="sha256:0")
    return build(ActorSpec(identity=identity, script=script), codec())


def asked(acting: ScriptedActor, *tools: ToolSpec) -> Reply:
    request = ModelRequest(model="scripted", messages=(UserMessage(text="go"),), tools=tools or (OTHER, SHELL))
    return acting.reply(request, CONTEXT)


def test_a_bare_text_is_a_command_of_the_one_command_tool() -> None:
    reply = asked(actor("ls {root}"))
    call = reply.calls[0]
    assert (call.id, call.name, call.arguments) == ("call-1", "exec_command", {"cmd": "ls /w/project"})
    assert (reply.text, reply.finish, reply.quirks, reply.model) == (None, "tool_calls", (), "scripted")
    assert reply.usage == Usage.model_validate(ZEROS)


def test_the_command_tool_is_found_by_its_shape() -> None:
    assert asked(actor("ls"), OTHER, text_tool("run", "line")).calls[0].arguments == {"line": "ls"}


@pytest.mark.parametrize(
    "tools",
    [
        (OTHER,),
        (SHELL, text_tool("again", "cmd")),
        (tool("odd", {"required": ["a"]}), tool("odder", {"required": [1], "properties": {}})),
        (tool("two", {"required": ["a", "b"], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),),
    ],
    ids=["none", "two", "odd", "two parameters"],
)
def test_a_command_without_one_command_tool_cannot_be_made(tools: tuple[ToolSpec, ...]) -> None:
    with pytest.raises(ScriptExhaustedError, match="exactly one required text"):
        asked(actor("ls"), *tools)


def test_text_beside_a_command_and_its_own_id_are_kept() -> None:
    reply = asked(actor(Action(command="ls", assistant_content="In {root}:", id="mine")))
    assert (reply.text, reply.calls[0].id) == ("In /w/project:", "mine")


def test_ids_go_on_counting_over_turns() -> None:
    acting = actor("a", Action(calls=(ScriptCall(name="x", arguments={}), ScriptCall(name="y", arguments={}))), "b")
    ids = [[call.id for call in asked(acting).calls] for _ in range(3)]
    assert ids == [["call-1"], ["call-2", "call-3"], ["call-4"]]


def test_text_is_a_final_answer() -> None:
    reply = asked(actor(Action(content="Done in {root}.")))
    assert (reply.text, reply.calls, reply.finish) == ("Done in /w/project.", (), "stop")


def test_an_empty_text_stays_an_empty_text() -> None:
    assert asked(actor(Action(content=""))).text == ""


def test_texts_are_replaced_after_substitution_in_order() -> None:
    acting = actor(Action(command="cd {root}", replace=(("/w/project", "/x"), ("cd /x", "ls {root} /x"))))
    assert asked(acting).calls[0].arguments == {"cmd": "ls /w/project /x"}


def test_a_text_to_replace_that_is_not_there_ends_the_script() -> None:
    acting = actor("a", Action(command="ls", replace=(("rm", "ls"),)))
    asked(acting)
    with pytest.raises(ScriptExhaustedError, match="answer 2: a text that it replaces"):
        asked(acting)


def test_placeholders_are_filled_in_all_texts_of_arguments() -> None:
    arguments: dict[str, JsonValue] = {"{root}": ["{root}/a", 1, {"b": "{root}"}], "n": None}
    reply = asked(actor(Action(calls=(ScriptCall(name="x", arguments=arguments, id="c"),))))
    assert reply.calls[0].arguments == {"{root}": ["/w/project/a", 1, {"b": "/w/project"}], "n": None}
    assert reply.calls[0].id == "c"


def test_a_placeholder_that_is_not_known_yet_ends_the_script() -> None:
    with pytest.raises(ScriptExhaustedError, match="later"):
        asked(actor("{later}"))


def test_a_raw_message_goes_through_the_decoder_as_it_is() -> None:
    raw: dict[str, JsonValue] = {
        "role": "assistant",
        "content": [{"type": "text", "text": "{root}"}],
        "tool_calls": [{"type": "function", "function": {"name": "exec_command", "arguments": '{"cmd": "pwd"'}}],
    }
    acting = actor(Action(raw_message=raw), Action(raw_message=raw))
    first, second = asked(acting), asked(acting)
    call = first.calls[0]
    assert (first.text, call.arguments, call.fault, call.arguments_raw) == (
        "{root}",
        None,
        "malformed_arguments",
        '{"cmd": "pwd"',
    )
    assert (first.quirks, first.finish) == (("missing_call_id",), "tool_calls")
    assert call.id != second.calls[0].id
    assert asked(actor(Action(raw_message=raw))).calls[0].id == call.id


def test_a_raw_message_without_calls_stops() -> None:
    reply = asked(actor(Action(raw_message={"content": "hi"})))
    assert (reply.text, reply.finish, reply.quirks) == ("hi", "stop", ())


@pytest.mark.parametrize("body", [{"choices": []}, "<html>", [1]])
def test_a_raw_body_that_is_no_answer_is_an_error_of_the_provider(body: JsonValue) -> None:
    with pytest.raises(ProviderError, match="bad_response"):
        asked(actor(Action(raw_response=body)))


def test_a_raw_body_is_decoded() -> None:
    body: JsonValue = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    assert asked(actor(Action(raw_response=body))).text == "hi"


@pytest.mark.parametrize(("name", "category"), [("TimeoutError", "timeout"), ("OSError", "connection_lost")])
def test_a_failure_of_the_transport_is_raised_and_never_retried(name: str, category: str) -> None:
    with pytest.raises(ProviderError) as caught:
        asked(actor(Action(raises=name)))
    assert (caught.value.category, caught.value.retryable) == (category, False)


def test_usage_and_finish_can_be_given() -> None:
    reply = asked(actor(Action(command="ls", usage={"input_tokens": 9}, finish="length")))
    assert reply.usage == Usage.model_validate(ZEROS | {"input_tokens": 9})
    assert (reply.finish, reply.calls[0].fault) == ("length", "truncated")


def test_running_out_is_an_error_that_counts() -> None:
    acting = actor(Action(content="x"))
    assert acting.left == 1
    asked(acting)
    assert acting.left == 0
    with pytest.raises(ScriptExhaustedError, match="answer 2: the script has no answer left") as caught:
        asked(acting)
    assert caught.value.position == 1
    acting.close()


@pytest.mark.parametrize(
    "action",
    [Action(), Action(command="a", content="b"), Action(command="a", usage={"apples": 1})],
    ids=["none", "two", "usage"],
)
def test_an_action_that_says_not_exactly_one_thing_is_refused(action: Action) -> None:
    with pytest.raises(ScriptError, match="answer 2: "):
        actor("ls", action)


def test_an_actor_without_a_script_is_refused() -> None:
    identity = ActorIdentity(ref="script", kind="script", digest="sha256:0")
    with pytest.raises(ScriptError, match="has no script"):
        build(ActorSpec(identity=identity), codec())
    assert actor().identity == identity


def test_replacements_that_grow_without_end_are_refused_before_they_are_made() -> None:
    grown = Action(command="a" * 4_000, replace=(("a", "b" * 4_000),))
    with pytest.raises(ScriptExhaustedError, match="replacing makes more than 8388608 characters"):
        asked(actor(grown), SHELL)


@case(199)
def test_a_request_that_an_answer_does_not_fit_takes_none_of_the_script() -> None:
    acting = actor("ls", "pwd")
    with pytest.raises(ScriptExhaustedError):
        asked(acting, OTHER)
    assert acting.left == 2
    assert asked(acting).calls[0].arguments == {"cmd": "ls"}
    assert acting.left == 1


def streamed(acting: ScriptedActor) -> Reply:
    """The answer to a request that is to be answered by a stream."""
    request = ModelRequest(model="scripted", messages=(UserMessage(text="go"),), tools=(OTHER, SHELL))
    return acting.reply(request, replace(CONTEXT, streamed=True))


@pytest.mark.parametrize(
    "action",
    [
        "ls {root}",
        Action(content="Größe \ud83d"),
        Action(calls=(ScriptCall(name="finish", arguments={"ok": True}), ScriptCall(name="finish", arguments={}))),
        Action(content="cut", finish="length"),
        Action(raw_message={"role": "assistant", "content": "a", "reasoning_content": "b"}),
    ],
)
def test_an_answer_that_comes_as_a_stream_is_the_same_answer(action: str | Action) -> None:
    assert streamed(actor(action)) == asked(actor(action))


def test_a_raw_answer_that_comes_as_a_stream_is_read_as_one() -> None:
    event = 'data: {"choices": [{"index": 0, "delta": {"content": "ab"}, "finish_reason": null}]}\n\n'
    with pytest.raises(ProviderError, match="closed before its end") as caught:
        streamed(actor(Action(raw_response=event)))
    assert caught.value.partial is not None
    assert (caught.value.category, caught.value.partial.text) == ("stream_incomplete", "ab")
    with pytest.raises(ProviderError, match="a whole body where a stream was asked for"):
        streamed(actor(Action(raw_response={"choices": []})))
