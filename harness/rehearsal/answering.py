"""From an action of a script and what a request shows to the reply that it means."""

from __future__ import annotations

import json
from dataclasses import dataclass

from harness.errors import ProviderError, ScriptError
from harness.ports import Provider, WireResponse
from harness.rehearsal.conversation import Conversation
from harness.scenario import resolve_late, substitute
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import FinishReason, Reply, Usage
from harness.schema.pointer import pointer
from harness.schema.scenario import LateValue, Scenario
from harness.schema.script import Action
from harness.schema.tool import ToolCall

__all__ = ["answer", "reply_of", "whole_body"]


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of a scenario, as far as a conversation shows them."""

    scenario: Scenario
    shown: Conversation

    def fill(self, text: str) -> str:
        """The text with its values in place. Raises ScriptError for one that the request does not show."""
        return substitute(text, self._lookup)

    def _lookup(self, name: str) -> str | None:
        late = self.scenario.late.get(name)
        if late is not None:
            found = resolve_late(
                late,
                prompt=self.shown.prompt,
                answer=lambda _: self._newest(late),
                plane=lambda _: None,
                shown=self.shown.answers,
            )
            if found is None:
                raise ScriptError(f"the value {{{name}}} is not shown by this request")
            return found
        if name in self._kept_by_the_world():
            raise ScriptError(f"the value {{{name}}} is known to the machine that runs the episode only")
        return None

    def _newest(self, late: LateValue) -> dict[str, JsonValue] | None:
        """The newest tool message that has a text where this value stands."""
        for text in reversed(self.shown.answers):
            try:
                document: JsonValue = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(document, dict) and isinstance(pointer(document, late.at or ""), str):
                return document
        return None

    def _kept_by_the_world(self) -> set[str]:
        return {"turn_id", "fixture_root", *(f"{root}_root" for root in self.scenario.workspace.roots)}


def answer(action: Action, scenario: Scenario, shown: Conversation, turn: int) -> Reply:
    """The reply of an action in a bound scenario.

    Usage counts words. Raises ScriptError where the request does not show a value that the action needs, where a text
    to replace is not there, and where a command has no single tool to go to.
    """
    values = _Values(scenario, shown)
    calls = _calls(action, values, turn)
    beside = None if action.assistant_content is None else values.fill(action.assistant_content)
    text = beside if action.content is None else _replaced(action, action.content, values)
    natural: FinishReason = "tool_calls" if calls or _has_calls(action.raw_message) else "stop"
    whole = "" if action.raw_message is None else canonical_json(action.raw_message)
    spoken = [text or "", whole, *(call.arguments_raw for call in calls)]
    counted = {
        "input_tokens": shown.words,
        "output_tokens": sum(len(part.split()) for part in spoken),
        "cache_read_tokens": 0,
        "reasoning_tokens": 0,
    }
    return Reply(
        text=text,
        calls=calls,
        finish=action.finish or natural,
        usage=Usage.model_validate(counted | (action.usage or {})),
        opaque=action.raw_message,
        model=shown.model,
        fingerprint="rehearsal",
    )


def whole_body(action: Action) -> bytes | None:
    """The whole body that an action gives; None where it gives a reply. A text is sent as it is, else as JSON."""
    if action.raw_response is None:
        return None
    raw = action.raw_response
    return (raw if isinstance(raw, str) else canonical_json(raw)).encode("utf-8", "backslashreplace")


def reply_of(codec: Provider, body: bytes) -> Reply | None:
    """What a body of one dialect says, to be said in another; None where it is no answer."""
    try:
        said = codec.decode_reply(WireResponse(200, {}, body))
    except ProviderError:
        return None
    return said.model_copy(update={"finish_word": None, "opaque": None, "quirks": ()})


def _calls(action: Action, values: _Values, turn: int) -> tuple[ToolCall, ...]:
    if action.command is not None:
        tools = values.scenario.command_tools
        if len(values.scenario.tool) != 1 or not tools:
            many = len(values.scenario.tool) if tools else "none that takes one"
            raise ScriptError(f"a command needs a scenario with one tool; this one has {many}")
        ((name, tool),) = tools.items()
        return (_call(action.id or f"call-{turn}-1", name, {tool.argument: _replaced(action, action.command, values)}),)
    return tuple(
        _call(
            call.id or f"call-{turn}-{number}",
            call.name,
            {key: _filled(value, values) for key, value in call.arguments.items()},
        )
        for number, call in enumerate(action.calls or (), 1)
    )


def _replaced(action: Action, said: str, values: _Values) -> str:
    """The command or the text of an action, with its values and its replacements in place."""
    text = values.fill(said)
    for old, new in action.replace:
        wanted = values.fill(old)
        if wanted not in text:
            raise ScriptError("a text that the script replaces is not in its answer")
        text = text.replace(wanted, values.fill(new))
    return text


def _call(id_: str, name: str, arguments: dict[str, JsonValue]) -> ToolCall:
    return ToolCall(id=id_, name=name, arguments_raw=canonical_json(arguments), arguments=arguments)


def _filled(value: JsonValue, values: _Values) -> JsonValue:
    match value:
        case str():
            return values.fill(value)
        case list():
            return [_filled(item, values) for item in value]
        case dict():
            return {key: _filled(item, values) for key, item in value.items()}
        case _:
            return value


def _has_calls(message: dict[str, JsonValue] | None) -> bool:
    return bool(message and (message.get("tool_calls") or message.get("function_call")))
