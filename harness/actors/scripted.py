"""A script that answers: each action goes through the provider's wire form, so the real decoder reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from harness.errors import ProviderError, ScriptError, ScriptExhaustedError
from harness.ports import Provider, TurnContext, WireResponse
from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import FinishReason, ModelRequest, Reply, Usage
from harness.schema.remembering import remembered
from harness.schema.script import Action
from harness.schema.tool import ToolCall, ToolSpec

__all__ = ["ScriptedActor", "build"]

_FORMS: Final = ("command", "content", "calls", "raw_message", "raw_response", "raises")
_HEADERS: Final = {"content-type": "application/json"}
_EVENTS: Final = {"content-type": "text/event-stream"}


def build(spec: ActorSpec, provider: Provider) -> ScriptedActor:
    """The actor of a spec that carries a script.

    Raises:
        ScriptError: there is no script, or an action has not exactly one form or counts unknown tokens.
    """
    return ScriptedActor(spec.identity, _script_of(spec), provider)


class _Script:
    """The actions of one spec, looked through once for all trials of it."""

    def __init__(self, actions: tuple[Action, ...]) -> None:
        self.actions = actions


@remembered(64)
def _script_of(spec: ActorSpec) -> _Script:
    if spec.script is None:
        raise ScriptError(f"actor {spec.identity.ref!r} has no script")
    actions = tuple(Action(command=entry) if isinstance(entry, str) else entry for entry in spec.script)
    for position, action in enumerate(actions, 1):
        problem = _problem(action)
        if problem is not None:
            raise ScriptError(f"actor {spec.identity.ref!r}: answer {position}: {problem}")
    return _Script(actions)


def _problem(action: Action) -> str | None:
    given = [form for form in _FORMS if getattr(action, form) is not None]
    if len(given) != 1:
        return "needs exactly one of command, content, calls, raw_message, raw_response, raise"
    unknown = sorted(set(action.usage or {}) - set(Usage.model_fields))
    return f"usage counts {', '.join(Usage.model_fields)} only" if unknown else None


#: Longest answer whose reply is remembered, in characters: every trial of a script gives the same ones.
_SHORT: Final = 16_384
#: Longest text that the replacements of an action may make, in characters.
TEXT_MAX: Final = 8_388_608


#: Answers of a script use no tokens but those that it says.
_FREE: Final = Usage.model_validate(dict.fromkeys(Usage.model_fields, 0))


class _Call(NamedTuple):
    """A call with the placeholders in its arguments filled."""

    id: str
    name: str
    arguments: str


class _Said(NamedTuple):
    """All that an answer is made of besides its action: equal ones make equal replies."""

    position: int
    model: str
    text: str | None
    calls: tuple[_Call, ...]
    streamed: bool

    @property
    def size(self) -> int:
        """Characters of what is said."""
        return len(self.text or "") + sum(len(call.arguments) for call in self.calls)


class ScriptedActor:
    """Gives one answer of its script for each request. Never invents one: running out is an error."""

    def __init__(self, identity: ActorIdentity, script: _Script, provider: Provider) -> None:
        self._identity, self._script, self._provider = identity, script, provider
        self._position = 0
        self._calls = 0
        self._tools: tuple[ToolSpec, ...] = ()
        self._command_tool: tuple[str, str] | None = None

    @property
    def identity(self) -> ActorIdentity:
        """As receipts name it."""
        return self._identity

    @property
    def is_immediate(self) -> bool:
        """What it says is written down."""
        return True

    @property
    def left(self) -> int:
        """Answers that were not asked for yet."""
        return len(self._script.actions) - self._position

    def reply(self, request: ModelRequest, context: TurnContext) -> Reply:
        """The next answer of the script.

        Raises:
            ScriptExhaustedError: there is none left, or this one cannot be made: a placeholder that cannot be
                resolved yet, a text to replace that is not there, no single command tool.
            ProviderError: the script says so, or the decoder does not take what the script made.
        """
        if self._position >= len(self._script.actions):
            raise ScriptExhaustedError(self._position)
        action = self._script.actions[self._position]
        if action.raises is not None:
            self._position += 1
            raise _transport_failure(action.raises)
        said = self._said(action, request, context)
        self._position += 1  # not before: a request that it cannot be the answer to takes none of the script's
        answer = _answer if said.size <= _SHORT else _answer.__wrapped__
        return answer(self._provider, self._script, said)  # type: ignore[arg-type]  # what has no __eq__ can be hashed

    def _said(self, action: Action, request: ModelRequest, context: TurnContext) -> _Said:
        position = self._position

        def fill(text: str) -> str:
            filled = context.substitute(text)
            for old, new in ((context.substitute(old), context.substitute(new)) for old, new in action.replace):
                if old not in filled:
                    raise ScriptExhaustedError(position, "a text that it replaces is not in the answer")
                if len(filled) + filled.count(old) * (len(new) - len(old)) > TEXT_MAX:
                    raise ScriptExhaustedError(position, f"replacing makes more than {TEXT_MAX} characters")
                filled = filled.replace(old, new)
            return filled

        if action.raw_response is not None:
            return _Said(position, "", None, (), context.streamed)
        calls = self._made_calls(action, request.tools, fill)
        text = action.content if action.content is not None else action.assistant_content
        if text is not None:
            text = fill(text) if action.content is not None else context.substitute(text)
        return _Said(position, request.model, text, calls, context.streamed)

    def _made_calls(self, action: Action, tools: tuple[ToolSpec, ...], fill: Callable[[str], str]) -> tuple[_Call, ...]:
        if action.command is not None:
            name, parameter = self._tool_of_commands(tools)
            return (self._call(action.id, name, {parameter: fill(action.command)}),)
        calls = []
        for call in action.calls or ():
            arguments = {key: _filled(value, fill) for key, value in call.arguments.items()}
            calls.append(self._call(call.id, call.name, arguments))
        return tuple(calls)

    def _tool_of_commands(self, tools: tuple[ToolSpec, ...]) -> tuple[str, str]:
        """Looked for once, for an episode offers the same tools at each turn."""
        if self._command_tool is None or self._tools != tools:
            self._command_tool, self._tools = _command_tool(tools, self._position), tools
        return self._command_tool

    def _call(self, given: str | None, name: str, arguments: dict[str, JsonValue]) -> _Call:
        self._calls += 1
        return _Call(given if given is not None else f"call-{self._calls}", name, canonical_json(arguments))

    def close(self) -> None:
        """Nothing to release."""


@lru_cache(maxsize=256)
def _answer(provider: Provider, script: _Script, said: _Said) -> Reply:
    """What the decoder makes of the answer that a script gives there; the codec is pure, so this is."""
    action = script.actions[said.position]
    if action.raw_response is not None:
        body = _raw(action.raw_response)
    else:
        made = _made(action, said)
        body = b"".join(provider.encode_stream(made)) if said.streamed else provider.encode_reply(made)
    if said.streamed:
        return provider.decode_stream(WireResponse(200, _EVENTS, body))
    return provider.decode_reply(WireResponse(200, _HEADERS, body))


def _made(action: Action, said: _Said) -> Reply:
    """The reply that an action describes. Its fingerprint keeps the bodies of two turns apart."""
    calls = tuple(
        ToolCall(id=call.id, name=call.name, arguments_raw=call.arguments, arguments=json.loads(call.arguments))
        for call in said.calls
    )
    natural: FinishReason = "tool_calls" if calls or _calls_in(action.raw_message) else "stop"
    return Reply(
        text=said.text,
        calls=calls,
        finish=action.finish or natural,
        usage=_FREE if action.usage is None else _FREE.model_copy(update=action.usage),
        opaque=action.raw_message,
        model=said.model or None,
        fingerprint=f"script-{said.position + 1}",
    )


def _command_tool(tools: tuple[ToolSpec, ...], position: int) -> tuple[str, str]:
    """Name and parameter of the one tool that takes exactly one required text."""
    found = []
    for tool in tools:
        required, properties = tool.parameters.get("required"), tool.parameters.get("properties")
        if isinstance(required, list) and len(required) == 1 and isinstance(properties, dict):
            parameter = required[0]
            described = properties.get(parameter) if isinstance(parameter, str) else None
            if isinstance(parameter, str) and isinstance(described, dict) and described.get("type") == "string":
                found.append((tool.name, parameter))
    if len(found) != 1:
        problem = f"a command needs one tool that takes exactly one required text; the request has {len(found)}"
        raise ScriptExhaustedError(position, problem)
    return found[0]


def _filled(value: JsonValue, fill: Callable[[str], str]) -> JsonValue:
    """A value with all texts in it filled; keys stay."""
    match value:
        case str():
            return fill(value)
        case list():
            return [_filled(item, fill) for item in value]
        case dict():
            return {key: _filled(item, fill) for key, item in value.items()}
        case _:
            return value


def _calls_in(message: dict[str, JsonValue] | None) -> bool:
    return message is not None and bool(message.get("tool_calls") or message.get("function_call"))


def _raw(response: JsonValue) -> bytes:
    """A text is the body itself, so that a script can answer what is no JSON; anything else is sent as JSON."""
    text = response if isinstance(response, str) else canonical_json(response)
    return text.encode("utf-8", "backslashreplace")


def _transport_failure(name: str) -> ProviderError:
    """Never retryable: a second attempt would take the script's next answer."""
    if name == "TimeoutError":
        return ProviderError("timeout", "the script lets the call time out")
    return ProviderError("connection_lost", "the script lets the connection fail")
