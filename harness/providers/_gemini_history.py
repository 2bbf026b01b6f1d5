"""A conversation as Gemini takes it: the model's content as it came, its calls answered one by one, in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.providers._answer import as_object
from harness.providers._arguments import sendable_arguments
from harness.providers._gemini_parts import Part, call_positions, own_parts, plain_parts
from harness.providers._strict_json import read_json
from harness.providers._turns import gather
from harness.schema.base import JsonValue
from harness.schema.message import AssistantMessage, Message, ToolMessage
from harness.schema.tool import ToolCall

__all__ = ["history_of"]

#: What stands for a result or a name that is missing, and for a question that is blank: all are refused.
_NO_RESULT = "(no result)"
_NO_TEXT = "(no text)"
_NO_NAME = "unnamed"


@dataclass(slots=True)
class _Asked:
    """A call that waits for its result; ``sent`` is how it was sent."""

    call: ToolCall
    sent: dict[str, JsonValue]
    result: dict[str, JsonValue] | None = None


@dataclass(slots=True)
class _History:
    """Contents so far; ``asked`` and ``words`` are the user's turn that is being gathered."""

    contents: list[JsonValue] = field(default_factory=list)
    asked: list[_Asked] = field(default_factory=list)
    words: list[Part] = field(default_factory=list)
    answering: bool = False

    @property
    def has_begun(self) -> bool:
        return bool(self.contents) or self.answering

    def say(self, text: str) -> None:
        self.answering = True
        self.words += _text(text)

    def result(self, message: ToolMessage) -> None:
        self.answering = True
        _result(self, message)

    def answer(self, message: AssistantMessage) -> None:
        _answer(self, message)

    def close(self) -> None:
        _close_user(self, is_last=True)


def history_of(messages: tuple[Message, ...]) -> tuple[str | None, list[JsonValue]]:
    """The system instruction, None where there is none, and the contents, beginning with a user's."""
    history = _History()
    return gather(messages, history), history.contents


def _text(text: str) -> list[Part]:
    return [{"text": text}] if text.strip() else []


def _result(history: _History, message: ToolMessage) -> None:
    waiting = (one for one in history.asked if one.call.id == message.call_id and one.result is None)
    asked = next(waiting, None)
    if asked is None:
        # the call is no longer in the conversation, and a result alone is refused
        history.words += _text(message.text)
        return
    asked.result = {"error" if message.failed else "output": message.text}


def _close_user(history: _History, *, is_last: bool = False) -> None:
    """Put down the user's turn: as many results as there were calls, in a content of their own, then the words."""
    results: list[JsonValue] = []
    for asked in history.asked:
        named: dict[str, JsonValue] = {key: asked.sent[key] for key in ("id", "name") if key in asked.sent}
        results.append({"functionResponse": {**named, "response": asked.result or {"error": _NO_RESULT}}})
    if results:
        history.contents.append({"role": "user", "parts": results})
    elif not history.words and (not history.contents or (is_last and history.answering)):
        history.words += _text(_NO_TEXT)
    if history.words:
        history.contents.append({"role": "user", "parts": [*history.words]})
    history.asked, history.words, history.answering = [], [], False


def _answer(history: _History, message: AssistantMessage) -> None:
    parts = _parts(message)
    if not parts:
        return
    _close_user(history)
    positions = call_positions(parts)
    last = history.contents[-1]
    if isinstance(last, dict) and last["role"] == "model" and isinstance(before := last["parts"], list):
        last["parts"] = [*before, *parts]
    else:
        history.contents.append({"role": "model", "parts": [*parts]})
    history.asked = [
        _Asked(call, as_object(parts[at]["functionCall"])) for call, at in zip(message.calls, positions, strict=True)
    ]


def _parts(message: AssistantMessage) -> list[Part]:
    """An earlier answer as it may be sent: its own parts, without those that would be refused."""
    own = own_parts(message.opaque)
    if own is None or len(call_positions(own)) != len(message.calls):
        own = plain_parts(message.text, message.calls)
    calls = iter(message.calls)
    sent: list[Part] = []
    for part in own:
        kept: Part = {key: value for key, value in part.items() if value is not None}
        if "functionCall" in kept:
            sent.append({**kept, "functionCall": _call(as_object(kept["functionCall"]), next(calls))})
        elif kept.keys() - {"text", "thought"} or kept.get("text"):
            sent.append(kept)
    return sent


def _call(sent: dict[str, JsonValue], call: ToolCall) -> dict[str, JsonValue]:
    kept: dict[str, JsonValue] = {key: value for key in ("id", "args") if (value := sent.get(key))}
    if not isinstance(kept.get("args"), dict):
        kept["args"] = read_json(sendable_arguments(call))
    return {**kept, "name": call.name or _NO_NAME}
