"""A conversation, one request for its next turn, and the reply."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer

from harness.schema.base import Frozen, JsonValue, Numerous, Plain, plain
from harness.schema.limits import COUNT_MAX
from harness.schema.tool import ToolCall, ToolSpec

__all__ = [
    "AssistantMessage",
    "FinishReason",
    "GenerationSettings",
    "Message",
    "ModelRequest",
    "Quirk",
    "Reply",
    "SystemMessage",
    "ToolMessage",
    "Usage",
    "UserMessage",
    "known_count",
]

#: Why a reply ended, in our words; the provider's own word is kept beside it.
FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "refusal", "pause", "error", "unknown"]

#: Oddities of an answer that a decoder reports and never repairs silently.
Quirk = Literal[
    "arguments_not_string",
    "empty_arguments",
    "double_encoded_arguments",
    "raw_control_chars",
    "missing_call_id",
    "duplicate_call_id",
    "finish_stop_with_tool_calls",
    "finish_missing",
    "announced_call_missing",
    "split_choices",
    "alternative_choices",
    "legacy_function_call",
    "tool_call_markup_in_text",
    "missing_index",
    "index_reused",
    "repeated_keys",
]


#: Stands for every count of tokens that is beyond ``COUNT_MAX``: how many there are is not known.
_BEYOND = COUNT_MAX + 1


def _bounded(count: int) -> int:
    return min(count, _BEYOND)


def known_count(count: int | None) -> int | None:
    """The count, None where it is unknown or beyond ``COUNT_MAX``."""
    return None if count is None or count > COUNT_MAX else count


_Count = Annotated[int, AfterValidator(_bounded)]


class Usage(Numerous):
    """Tokens of one attempt; None is unknown, never zero. What is beyond ``COUNT_MAX`` is ``COUNT_MAX + 1``.

    ``input_tokens`` counts all input, cache reads and writes included; ``output_tokens`` includes reasoning.
    """

    input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    cache_read_tokens: _Count | None = None
    cache_write_tokens: _Count | None = None
    reasoning_tokens: _Count | None = None


@plain
class SystemMessage(Plain):
    """Rules the actor works under."""

    role: Literal["system"] = "system"
    text: str


@plain
class UserMessage(Plain):
    """What is asked."""

    role: Literal["user"] = "user"
    text: str


@plain
class AssistantMessage(Plain):
    """An earlier reply. ``opaque`` is the provider's own message, sent back verbatim where it is present."""

    role: Literal["assistant"] = "assistant"
    text: str | None
    calls: tuple[ToolCall, ...] = ()
    opaque: JsonValue = None


@plain
class ToolMessage(Plain):
    """The answer to one call."""

    role: Literal["tool"] = "tool"
    call_id: str
    name: str
    text: str
    failed: bool = False


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class GenerationSettings(Frozen):
    """How a live model is asked; part of an actor's identity. None leaves the provider's default."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_output_tokens: int | None = Field(default=None, ge=1, le=COUNT_MAX)
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None
    thinking: Literal["enabled", "disabled", "auto"] | None = None
    seed: int | None = Field(default=None, ge=-COUNT_MAX, le=COUNT_MAX)
    tool_choice: Literal["auto", "required", "none"] | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None

    @model_serializer(mode="wrap")
    def _as_written(self, inner: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Who does not stream is written as before streams could be asked for: recordings and digests stay the same."""
        fields: dict[str, object] = inner(self)
        return fields if self.stream is not None else {key: fields[key] for key in fields if key != "stream"}


_NO_SETTINGS = GenerationSettings()


@plain
class ModelRequest(Plain):
    """The complete effective request of one turn, without address and credentials."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    settings: GenerationSettings = _NO_SETTINGS


class Reply(Frozen):
    """One decoded answer.

    ``finish`` is None where no finish was reached; ``finish_word`` is the provider's own word. ``opaque`` is what
    must be sent back unchanged. ``model`` and ``fingerprint`` are what the provider says answered.
    """

    text: str | None
    calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    refusal: str | None = None
    finish: FinishReason | None
    finish_word: str | None = None
    usage: Usage | None = None
    quirks: tuple[Quirk, ...] = ()
    opaque: JsonValue = None
    model: str | None = None
    fingerprint: str | None = None

    @classmethod
    def of(cls, told: JsonValue) -> Reply:
        """The reply that a JSON value tells of; a lone surrogate, which has no UTF-8 form, may be in it."""
        return cls.model_validate(told, strict=False)

    def truncated(self) -> Reply:
        """Half of it, ended by the token limit: half the text, and half the arguments of the last call."""
        text = None if self.text is None else self.text[: len(self.text) // 2]
        calls = self.calls
        if calls:
            half = calls[-1].arguments_raw[: len(calls[-1].arguments_raw) // 2]
            cut = replace(calls[-1], arguments_raw=half, arguments=None, fault="truncated")
            calls = (*calls[:-1], cut)
        return self.model_copy(update={"text": text, "calls": calls, "finish": "length", "finish_word": None})
