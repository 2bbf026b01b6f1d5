"""A conversation as Gemini takes it: the model's content as it came, its calls answered one by one, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.providers._gemini.parts import Part, call_positions, own_parts, plain_parts
from harness.providers._wire.answer import as_object
from harness.providers._wire.arguments import sendable_arguments
from harness.providers._wire.strict_json import read_json
from harness.providers._wire.turns import Turns
from harness.schema.base import JsonValue
from harness.schema.message import AssistantMessage, Message, ToolMessage
from harness.schema.tool import ToolCall

__all__ = ["history_of"]

#: What stands for a result or a name that is missing: both are refused.
_NO_RESULT = "(no result)"
_NO_NAME = "unnamed"


@dataclass(slots=True)
class _Asked:
    """A call that waits for its result; ``sent`` is how it was sent."""

    call: ToolCall
    sent: dict[str, JsonValue]
    result: dict[str, JsonValue] | None = None


class _History(Turns):
    """Contents so far; ``asked`` are the calls of the newest answer."""

    model, inside = "model", "parts"

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[_Asked] = []

    def text(self, text: str) -> Part:
        return {"text": text}

    def result(self, message: ToolMessage) -> None:
        waiting = (one for one in self.asked if one.call.id == message.call_id and one.result is None)
        asked = next(waiting, None)
        if asked is None:
            # a result without its call is refused
            self.say(message.text)
            return
        asked.result = {"error" if message.failed else "output": message.text}

    def close(self, *, is_last: bool) -> None:
        """As many results as there were calls, in a content of their own, then the words."""
        results: list[Part] = []
        for asked in self.asked:
            named: dict[str, JsonValue] = {key: asked.sent[key] for key in ("id", "name") if key in asked.sent}
            results.append({"functionResponse": {**named, "response": asked.result or {"error": _NO_RESULT}}})
        if results:
            self.put("user", results)
        elif not self.words and self.needs_words(is_last=is_last):
            self.say_nothing()
        if self.words:
            self.put("user", self.words)
        self.asked, self.words, self.answering = [], [], False

    def ask(self, calls: Sequence[ToolCall], parts: Sequence[Part]) -> None:
        positions = call_positions(parts)
        self.asked = [
            _Asked(call, as_object(parts[at]["functionCall"])) for call, at in zip(calls, positions, strict=True)
        ]

    def parts_of(self, message: AssistantMessage) -> list[Part]:
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


def history_of(messages: tuple[Message, ...]) -> tuple[str | None, list[JsonValue]]:
    """The system instruction, None where there is none, and the contents, beginning with a user's."""
    history = _History()
    return history.gather(messages), history.sent


def _call(sent: dict[str, JsonValue], call: ToolCall) -> dict[str, JsonValue]:
    kept: dict[str, JsonValue] = {key: value for key in ("id", "args") if (value := sent.get(key))}
    if not isinstance(kept.get("args"), dict) or call.arguments is None:
        kept["args"] = read_json(sendable_arguments(call))
    return {**kept, "name": call.name or _NO_NAME}
