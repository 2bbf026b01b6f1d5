"""A conversation as APIs take it in which a user's turn and a model's alternate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, assert_never

from harness.schema.base import JsonValue
from harness.schema.message import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from harness.schema.tool import ToolCall

__all__ = ["Part", "Turns"]

#: One part of a turn.
Part = dict[str, JsonValue]

#: What stands for a question that is blank.
_NO_TEXT = "(no text)"


class Turns(ABC):
    """The turns so far, in one dialect: ``sent``, and the user's turn that is being gathered.

    ``model`` is the role of the model, ``inside`` the key of what a turn holds. The words of a gathered turn are
    ``words``; ``answering`` says that one was begun.
    """

    model: ClassVar[str]
    inside: ClassVar[str]

    def __init__(self) -> None:
        self.sent: list[JsonValue] = []
        self.words: list[Part] = []
        self.answering = False

    def gather(self, messages: Iterable[Message]) -> str | None:
        """Take all messages; returns the rules that stand before them, None where there are none.

        Rules that come later are said in the user's turn, for there is no other place for them.
        """
        rules: list[str] = []
        for message in messages:
            match message:
                case SystemMessage() if not self.sent and not self.answering:
                    rules += [message.text] if message.text.strip() else []
                case SystemMessage() | UserMessage():
                    self.answering = True
                    self.say(message.text)
                case ToolMessage():
                    self.answering = True
                    self.result(message)
                case AssistantMessage():
                    self._answer(message)
                case _:
                    assert_never(message)
        self.close(is_last=True)
        return "\n\n".join(rules) or None

    def say(self, text: str) -> None:
        """Words of the user; blank ones are left out."""
        if text.strip():
            self.words.append(self.text(text))

    def put(self, role: str, parts: Sequence[Part]) -> None:
        """One turn more."""
        self.sent.append({"role": role, self.inside: [*parts]})

    def needs_words(self, *, is_last: bool) -> bool:
        """Whether the user has to say something where nothing is there to be said: a conversation begins, and ends."""
        return not self.sent or (is_last and self.answering)

    def say_nothing(self) -> None:
        """What stands for words that are blank."""
        self.say(_NO_TEXT)

    def _answer(self, message: AssistantMessage) -> None:
        parts = self.parts_of(message)
        if not parts:
            return
        self.close(is_last=False)
        last = self.sent[-1]
        if isinstance(last, dict) and last["role"] == self.model and isinstance(before := last[self.inside], list):
            last[self.inside] = [*before, *parts]
        else:
            self.put(self.model, parts)
        self.ask(message.calls, parts)

    @abstractmethod
    def text(self, text: str) -> Part:
        """A part that is a text."""

    @abstractmethod
    def result(self, message: ToolMessage) -> None:
        """The answer to a call; one whose call is no longer there is said as words."""

    @abstractmethod
    def close(self, *, is_last: bool) -> None:
        """Put down the user's turn that is being gathered, and begin another."""

    @abstractmethod
    def parts_of(self, message: AssistantMessage) -> list[Part]:
        """An earlier answer as it may be sent: its own parts, without those that would be refused."""

    @abstractmethod
    def ask(self, calls: Sequence[ToolCall], parts: Sequence[Part]) -> None:
        """These calls, sent in these parts, wait for their results."""
