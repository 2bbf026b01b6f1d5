"""A conversation as the messages API takes it: turns that alternate, results before words, nothing blank."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256

from harness.providers._anthropic_content import Block, own_blocks, plain_blocks
from harness.providers._arguments import sendable_arguments
from harness.providers._strict_json import read_json
from harness.providers._turns import gather
from harness.schema.base import JsonValue
from harness.schema.message import AssistantMessage, Message, ToolMessage
from harness.schema.tool import ToolCall

__all__ = ["history_of"]

#: What stands for a result, a question or an answer that is blank: the API refuses blank text.
_NO_OUTPUT = "(no output)"
_NO_RESULT = "(no result)"
_NO_TEXT = "(no text)"

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(slots=True)
class _History:
    """Messages so far. ``results`` and ``words`` are the user's turn that is being gathered."""

    messages: list[JsonValue] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    asked: list[tuple[str, str]] = field(default_factory=list)
    results: dict[str, Block] = field(default_factory=dict)
    words: list[Block] = field(default_factory=list)
    answering: bool = False

    @property
    def has_begun(self) -> bool:
        return bool(self.messages) or self.answering

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
    """The system prompt, None where there is none, and the turns, beginning with a user's."""
    history = _History()
    return gather(messages, history), history.messages


def _text(text: str) -> list[Block]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _result(history: _History, message: ToolMessage) -> None:
    sent = next((id_ for given, id_ in history.asked if given == message.call_id and id_ not in history.results), None)
    if sent is None:
        # the call is no longer in the conversation, and a result alone is refused
        history.words += _text(message.text)
        return
    text = message.text if message.text.strip() else _NO_OUTPUT
    history.results[sent] = {"type": "tool_result", "tool_use_id": sent, "content": text}
    if message.failed:
        history.results[sent]["is_error"] = True


def _close_user(history: _History, *, is_last: bool = False) -> None:
    """Put down the user's turn: results in the order of their calls, then the words."""
    blocks: list[JsonValue] = []
    for _, id_ in history.asked:
        missing: Block = {"type": "tool_result", "tool_use_id": id_, "content": _NO_RESULT, "is_error": True}
        blocks.append(history.results.get(id_, missing))
    blocks += history.words
    if not blocks and (not history.messages or (is_last and history.answering)):
        blocks += _text(_NO_TEXT)
    if blocks:
        history.messages.append({"role": "user", "content": blocks})
    history.asked, history.results, history.words, history.answering = [], {}, [], False


def _answer(history: _History, message: AssistantMessage) -> None:
    blocks = _blocks(history, message)
    if not blocks:
        return
    asked = history.asked
    _close_user(history)
    history.asked = [(call.id, str(block["id"])) for call, block in zip(message.calls, _uses(blocks), strict=False)]
    last = history.messages[-1] if history.messages else None
    if (
        isinstance(last, dict)
        and last["role"] == "assistant"
        and isinstance(before := last["content"], list)
        and not asked
    ):
        last["content"] = [*before, *blocks]
    else:
        history.messages.append({"role": "assistant", "content": [*blocks]})


def _uses(blocks: list[Block]) -> list[Block]:
    return [block for block in blocks if block.get("type") == "tool_use"]


def _blocks(history: _History, message: AssistantMessage) -> list[Block]:
    """An earlier answer as it may be sent: its own blocks, without those that would be refused."""
    own = own_blocks(message.opaque)
    if own is None or len(_uses(own)) != len(message.calls):
        own = plain_blocks(message.text, message.calls)
    calls = iter(message.calls)
    sent: list[Block] = []
    for block in own:
        if block.get("type") == "tool_use":
            sent.append(_use(history, block, next(calls)))
        elif not _is_refused(block):
            sent.append({key: value for key, value in block.items() if value is not None})
    return sent


def _is_refused(block: Block) -> bool:
    """Blank text, and a thought that was cut off before it was signed."""
    if block.get("type") == "text":
        text = block.get("text")
        return not isinstance(text, str) or not text.strip()
    return block.get("type") == "thinking" and not block.get("signature")


def _use(history: _History, block: Block, call: ToolCall) -> Block:
    kept: Block = {key: value for key, value in block.items() if value is not None}
    given = block.get("input")
    if not isinstance(given, dict):
        given = read_json(sendable_arguments(call))
    return {**kept, "id": _free_id(history, call.id), "name": call.name, "input": given}


def _free_id(history: _History, id_: str) -> str:
    """An id that the API takes, of this call alone: the API refuses foreign characters and ids that come twice."""
    base = id_
    if _FOREIGN.search(id_) or not id_:
        base = f"{_FOREIGN.sub('_', id_)}-{sha256(id_.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    free, number = base, 1
    while free in history.used:
        number += 1
        free = f"{base}-{number}"
    history.used.add(free)
    return free
