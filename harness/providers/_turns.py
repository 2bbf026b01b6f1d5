"""A conversation as APIs take it in which a user's turn and a model's alternate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, assert_never

from harness.schema.message import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage

__all__ = ["Turns", "gather"]


class Turns(Protocol):
    """The turns so far, in one dialect."""

    @property
    def has_begun(self) -> bool:
        """Whether anything but rules was said."""

    def say(self, text: str) -> None:
        """Words of the user; blank ones are left out."""

    def result(self, message: ToolMessage) -> None:
        """The answer to a call."""

    def answer(self, message: AssistantMessage) -> None:
        """A turn of the model."""

    def close(self) -> None:
        """Put down the turn of the user that is being gathered; it is the last one."""


def gather(messages: Iterable[Message], turns: Turns) -> str | None:
    """Put all messages into ``turns``; returns the rules that stand before them, None where there are none.

    Rules that come later are said in the user's turn, for there is no other place for them.
    """
    rules: list[str] = []
    for message in messages:
        match message:
            case SystemMessage() if not turns.has_begun:
                rules += [message.text] if message.text.strip() else []
            case SystemMessage() | UserMessage():
                turns.say(message.text)
            case ToolMessage():
                turns.result(message)
            case AssistantMessage():
                turns.answer(message)
            case _:
                assert_never(message)
    turns.close()
    return "\n\n".join(rules) or None
