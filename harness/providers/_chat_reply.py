"""From the body of a chat completion to a reply, or to the error that it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from harness.errors import ProviderError
from harness.providers._chat_message import WireCall, as_object, echo_of, texts_of, wire_calls
from harness.providers._failures import failure_inside, retryable
from harness.providers._finish import FAILED_WORDS, FINISH_WORDS
from harness.providers._markup import looks_like_call
from harness.providers._own_usage import own_usage
from harness.providers._strict_json import NotJsonError, read_json
from harness.schema.base import JsonValue
from harness.schema.message import FinishReason, Quirk, Reply, Usage
from harness.schema.tool import ToolCall

__all__ = ["SEED", "made_id", "read_reply"]

#: A response id that we made ourselves: ids of calls that came without one start with it.
SEED = re.compile(r"made-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class _Answer:
    """The one message of a body, and why it ended."""

    message: dict[str, JsonValue]
    word: str | None
    quirks: tuple[Quirk, ...] = ()


def made_id(seed: str, position: int) -> str:
    """The id of a call that came without one; ``position`` counts from 1."""
    return f"{seed}-{position}"


def read_reply(body: bytes, status: int) -> Reply:
    """The reply in a body that came with a successful status.

    Raises:
        ProviderError: ``bad_response`` for anything that is no chat completion, else what the body says went wrong.
    """
    try:
        root = read_json(body)
    except NotJsonError:
        raise _bad(_what_is(body), status) from None
    failure = failure_inside(root, status)
    if failure is not None:
        raise failure
    if not isinstance(root, dict):
        raise _bad("no JSON object", status)
    answer = _answer_of(root, status)
    if answer.word is not None and answer.word.lower() in FAILED_WORDS:
        category = FAILED_WORDS[answer.word.lower()]
        said = (
            "the provider says that the model's call was malformed"
            if category == "malformed_tool_call"
            else ("the provider says inside its answer that it failed")
        )
        raise ProviderError(category, said, retryable=retryable(category), http_status=status)
    return _reply(root, answer, _seed_of(root, body), status)


def _reply(root: dict[str, JsonValue], answer: _Answer, seed: str, status: int) -> Reply:
    texts, found = texts_of(answer.message), wire_calls(answer.message)
    if texts is None:
        raise _bad("a message whose content is no text", status)
    if found is None:
        raise _bad("tool calls that are no list of objects", status)
    text, reasoning, refusal = texts
    wire, form = found
    calls, oddities = _calls(wire, seed, legacy=bool(form))
    finish, ending = _finish(answer.word, calls=bool(calls), refused=refusal is not None)
    if finish == "length" and calls:
        calls = (*calls[:-1], calls[-1].model_copy(update={"arguments": None, "fault": "truncated"}))
    markup: tuple[Quirk, ...] = ()
    if not calls and (looks_like_call(text) or looks_like_call(reasoning)):
        markup = ("tool_call_markup_in_text",)
    return Reply(
        text=text,
        calls=calls,
        reasoning=reasoning,
        refusal=refusal,
        finish=finish,
        finish_word=answer.word,
        usage=_usage(root.get("usage")),
        quirks=tuple(sorted({*answer.quirks, *form, *oddities, *ending, *markup})),
        opaque=echo_of(answer.message, text, calls, wire),
        model=_word(root.get("model")),
        fingerprint=_word(root.get("system_fingerprint")),
    )


def _answer_of(root: dict[str, JsonValue], status: int) -> _Answer:
    """The message of the one choice.

    We never ask for alternatives. Where a text and its calls come as two choices they are put together and
    reported; several answers to choose from are no answer.
    """
    choices = root.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _bad("no choices", status)
    messages: list[dict[str, JsonValue]] = []
    for choice in choices:
        failure = failure_inside(choice, status) if isinstance(choice, dict) and choice.get("error") else None
        if failure is not None:
            raise failure
        message = as_object(choice).get("message")
        if not isinstance(message, dict):
            raise _bad("a choice without a message", status)
        messages.append(message)
    words = [_word(as_object(choice).get("finish_reason")) for choice in choices]
    if len(messages) == 1:
        return _Answer(messages[0], words[0])
    calling = [index for index, message in enumerate(messages) if message.get("tool_calls")]
    speaking = [index for index, message in enumerate(messages) if message.get("content")]
    if len(messages) != 2 or len(calling) != 1 or calling == speaking or len(speaking) > 1:  # noqa: PLR2004  (a text and its calls)
        raise _bad("several alternative answers where one was asked for", status)
    caller, other = messages[calling[0]], messages[1 - calling[0]]
    content = other.get("content")
    return _Answer({**other, **caller, "content": content}, words[calling[0]], ("split_choices",))


def _calls(wire: list[WireCall], seed: str, *, legacy: bool) -> tuple[tuple[ToolCall, ...], tuple[Quirk, ...]]:
    calls: list[ToolCall] = []
    quirks: set[Quirk] = set()
    ids: set[str] = set()
    for position, one in enumerate(wire, 1):
        quirks.update(one.arguments.quirks)
        if one.id is None and not legacy:
            quirks.add("missing_call_id")
        elif one.id in ids:
            quirks.add("duplicate_call_id")
        call = ToolCall(
            id=one.id if one.id is not None else made_id(seed, position),
            name=one.name,
            arguments_raw=one.arguments.raw,
            arguments=one.arguments.value,
            fault=one.arguments.fault,
        )
        calls.append(call)
        ids.add(call.id)
    return tuple(calls), tuple(quirks)


def _finish(word: str | None, *, calls: bool, refused: bool) -> tuple[FinishReason, tuple[Quirk, ...]]:
    """Calls that are there decide against ``stop`` and against no or an unknown word; a refusal field as well."""
    quirks: tuple[Quirk, ...] = () if word is not None else ("finish_missing",)
    finish: FinishReason = "unknown" if word is None else FINISH_WORDS.get(word.lower(), "unknown")
    if calls:
        if finish == "stop":
            quirks = ("finish_stop_with_tool_calls",)
        return ("tool_calls" if finish in {"stop", "unknown", "pause"} else finish), quirks
    if finish == "tool_calls":
        return finish, ("announced_call_missing",)
    return ("refusal" if refused and finish in {"stop", "unknown"} else finish), quirks


def _usage(sent: JsonValue) -> Usage | None:
    """Tokens as counted by the provider; None where it counted nothing that we can read."""
    root = as_object(sent)
    if root.get("prompt_tokens") is None and (own := own_usage(root, _count)) is not None:
        return own
    asked, answered = as_object(root.get("prompt_tokens_details")), as_object(root.get("completion_tokens_details"))
    into, out = _count(root.get("prompt_tokens")), _count(root.get("completion_tokens"))
    reasoning, total = _count(answered.get("reasoning_tokens")), _count(root.get("total_tokens"))
    # One vendor leaves reasoning out of completion_tokens; only the total shows it.
    if into is not None and out is not None and reasoning and total == into + out + reasoning:
        out += reasoning
    read = [
        _count(asked.get("cached_tokens")),
        _count(root.get("prompt_cache_hit_tokens")),
        _count(root.get("cached_tokens")),
    ]
    written = [_count(asked.get("cache_write_tokens")), _count(root.get("cache_creation_input_tokens"))]
    usage = Usage(
        input_tokens=into,
        output_tokens=out,
        cache_read_tokens=next((count for count in read if count is not None), None),
        cache_write_tokens=next((count for count in written if count is not None), None),
        reasoning_tokens=reasoning,
    )
    return None if usage == Usage() else usage


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _seed_of(root: dict[str, JsonValue], body: bytes) -> str:
    """What made ids start with: the same for the same body, another in the next turn."""
    given = root.get("id")
    if isinstance(given, str) and SEED.fullmatch(given):
        return given
    return f"made-{sha256(body).hexdigest()[:16]}"


def _word(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


def _what_is(body: bytes) -> str:
    start = body.lstrip()[:16].lower()
    if not start:
        return "an empty body"
    if start.startswith(b"<"):
        return "a web page; is the base URL right?"
    if start.startswith((b"data:", b"event:", b":")):
        return "an event stream that was not asked for"
    return "a body that is not JSON"


def _bad(what: str, status: int) -> ProviderError:
    return ProviderError("bad_response", f"the provider answered with {what}", http_status=status)
