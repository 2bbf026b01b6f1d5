"""A conversation as the messages API takes it: turns that alternate, results before words, nothing blank."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

from harness.providers._anthropic.content import Block, own_blocks, plain_blocks
from harness.providers._wire.arguments import sendable_arguments
from harness.providers._wire.strict_json import read_json
from harness.providers._wire.turns import Turns
from harness.schema.base import JsonValue
from harness.schema.message import AssistantMessage, Message, ToolMessage
from harness.schema.tool import ToolCall

__all__ = ["history_of"]

#: What stands for a result that is blank, or missing: the API refuses blank text.
_NO_OUTPUT = "(no output)"
_NO_RESULT = "(no result)"

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


class _History(Turns):
    """Messages so far. ``asked`` holds the ids of calls, as given and as sent; ``results`` the answers to them."""

    model, inside = "assistant", "content"

    def __init__(self) -> None:
        super().__init__()
        self.used: set[str] = set()
        self.asked: list[tuple[str, str]] = []
        self.results: dict[str, Block] = {}

    def text(self, text: str) -> Block:
        return {"type": "text", "text": text}

    def result(self, message: ToolMessage) -> None:
        sent = next((id_ for given, id_ in self.asked if given == message.call_id and id_ not in self.results), None)
        if sent is None:
            # a result without its call is refused
            self.say(message.text)
            return
        text = message.text if message.text.strip() else _NO_OUTPUT
        self.results[sent] = {"type": "tool_result", "tool_use_id": sent, "content": text}
        if message.failed:
            self.results[sent]["is_error"] = True

    def close(self, *, is_last: bool) -> None:
        """Results stand in the order of their calls, then the words."""
        blocks: list[Block] = []
        for _, id_ in self.asked:
            missing: Block = {"type": "tool_result", "tool_use_id": id_, "content": _NO_RESULT, "is_error": True}
            blocks.append(self.results.get(id_, missing))
        if not blocks and not self.words and self.needs_words(is_last=is_last):
            self.say_nothing()
        if blocks or self.words:
            self.put("user", [*blocks, *self.words])
        self.asked, self.results, self.words, self.answering = [], {}, [], False

    def ask(self, calls: Sequence[ToolCall], parts: Sequence[Block]) -> None:
        self.asked = [(call.id, str(block["id"])) for call, block in zip(calls, _uses(parts), strict=False)]

    def parts_of(self, message: AssistantMessage) -> list[Block]:
        own = own_blocks(message.opaque)
        if own is None or len(_uses(own)) != len(message.calls):
            own = plain_blocks(message.text, message.calls)
        calls = iter(message.calls)
        sent: list[Block] = []
        for block in own:
            if block.get("type") == "tool_use":
                sent.append(self._use(block, next(calls)))
            elif not _is_refused(block):
                sent.append({key: value for key, value in block.items() if value is not None})
        return sent

    def _use(self, block: Block, call: ToolCall) -> Block:
        kept: Block = {key: value for key, value in block.items() if value is not None}
        given = block.get("input")
        if not isinstance(given, dict) or call.arguments is None:
            given = read_json(sendable_arguments(call))
        return {**kept, "id": self._free_id(call.id), "name": call.name, "input": given}

    def _free_id(self, id_: str) -> str:
        """An id that the API takes, of this call alone: the API refuses foreign characters and ids that come twice."""
        base = id_
        if _FOREIGN.search(id_) or not id_:
            base = f"{_FOREIGN.sub('_', id_)}-{sha256(id_.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        free, number = base, 1
        while free in self.used:
            number += 1
            free = f"{base}-{number}"
        self.used.add(free)
        return free


def history_of(messages: tuple[Message, ...]) -> tuple[str | None, list[JsonValue]]:
    """The system prompt, None where there is none, and the turns, beginning with a user's."""
    history = _History()
    return history.gather(messages), history.sent


def _uses(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if block.get("type") == "tool_use"]


def _is_refused(block: Block) -> bool:
    """Blank text, and a thought that was cut off before it was signed."""
    if block.get("type") == "text":
        text = block.get("text")
        return not isinstance(text, str) or not text.strip()
    return block.get("type") == "thinking" and not block.get("signature")
