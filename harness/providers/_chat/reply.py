"""From the body of a chat completion to a reply, or to the error that it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from harness.providers._chat.message import echo_of, texts_of, wire_calls
from harness.providers._wire.answer import as_object, bad, count, read_root, word
from harness.providers._wire.calls import CallSent, numbered, seed_of
from harness.providers._wire.failures import failure_inside
from harness.providers._wire.finish import failed_answer, finish_of
from harness.providers._wire.markup import looks_like_call
from harness.providers._wire.own_usage import own_usage
from harness.providers._wire.strict_json import oddities_of
from harness.schema.base import JsonValue
from harness.schema.message import Quirk, Reply, Usage

__all__ = ["read_reply", "reply_of"]


@dataclass(frozen=True, slots=True)
class _Answer:
    """The one message of a body, and why it ended."""

    message: dict[str, JsonValue]
    word: str | None
    quirks: tuple[Quirk, ...] = ()


def read_reply(body: bytes, status: int) -> Reply:
    """The reply in a body that came with a successful status.

    Raises:
        ProviderError: ``bad_response`` for anything that is no chat completion, else what the body says went wrong;
            then ``partial`` holds what it says besides.
    """
    return reply_of(read_root(body, status), status)


def reply_of(root: dict[str, JsonValue], status: int, quirks: Iterable[Quirk] = ()) -> Reply:
    """The reply in the object of a body; ``quirks`` were seen before it was put together. Raises as ``read_reply``."""
    answer = _answer_of(root, status)
    answer = replace(answer, quirks=(*answer.quirks, *quirks, *oddities_of(root)))
    reply = _reply(root, answer, status)
    failed = failed_answer(reply, status)
    if failed is not None:
        raise failed
    return reply


def _reply(root: dict[str, JsonValue], answer: _Answer, status: int) -> Reply:
    texts, found = texts_of(answer.message), wire_calls(answer.message)
    if texts is None:
        raise bad("a message whose content is no text", status)
    if found is None:
        raise bad("tool calls that are no list of objects", status)
    text, reasoning, refusal = texts
    wire, form = found
    finish, ending = finish_of(answer.word, calls=bool(wire), refused=refusal is not None)
    sent = [CallSent(one.id, one.name, one.arguments) for one in wire]
    seed = partial(seed_of, root.get("id"), root)
    calls, oddities = numbered(sent, seed, has_ids=not form, truncated=finish == "length")
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
        model=word(root.get("model")),
        fingerprint=word(root.get("system_fingerprint")),
    )


def _answer_of(root: dict[str, JsonValue], status: int) -> _Answer:
    """The message of the choice that counts.

    Where a text and its calls come as two choices they are put together. Of several answers, which we never ask for,
    the one with the lowest index counts. Both are reported.
    """
    choices = root.get("choices")
    if not isinstance(choices, list) or not choices:
        raise bad("no choices", status)
    messages: list[dict[str, JsonValue]] = []
    for choice in choices:
        failure = failure_inside(choice, status) if isinstance(choice, dict) and choice.get("error") else None
        if failure is not None:
            raise failure
        message = as_object(choice).get("message")
        if not isinstance(message, dict):
            raise bad("a choice without a message", status)
        messages.append(message)
    words = [word(as_object(choice).get("finish_reason")) for choice in choices]
    if len(messages) == 1:
        return _Answer(messages[0], words[0])
    calling = [index for index, message in enumerate(messages) if message.get("tool_calls")]
    speaking = [index for index, message in enumerate(messages) if message.get("content")]
    if len(messages) != 2 or len(calling) != 1 or calling == speaking or len(speaking) > 1:  # noqa: PLR2004  (a text and its calls)
        first = _first(choices, status)
        return _Answer(messages[first], words[first], ("alternative_choices",))
    caller, other = messages[calling[0]], messages[1 - calling[0]]
    content = other.get("content")
    return _Answer({**other, **caller, "content": content}, words[calling[0]], ("split_choices",))


def _first(choices: list[JsonValue], status: int) -> int:
    """The place of the choice with the lowest index, where each has one of its own."""
    numbers = [as_object(choice).get("index") for choice in choices]
    if not all(isinstance(one, int) for one in numbers) or len(set(map(str, numbers))) != len(numbers):
        raise bad("several alternative answers where one was asked for", status)
    return min(range(len(numbers)), key=lambda place: (count(numbers[place]) or 0, place))


def _usage(sent: JsonValue) -> Usage | None:
    """Tokens as counted by the provider; None where it counted nothing that we can read."""
    root = as_object(sent)
    if root.get("prompt_tokens") is None and (own := own_usage(root)) is not None:
        return own
    asked, answered = as_object(root.get("prompt_tokens_details")), as_object(root.get("completion_tokens_details"))
    into, out = count(root.get("prompt_tokens")), count(root.get("completion_tokens"))
    reasoning, total = count(answered.get("reasoning_tokens")), count(root.get("total_tokens"))
    # One vendor leaves reasoning out of completion_tokens; only the total shows it.
    if into is not None and out is not None and reasoning and total == into + out + reasoning:
        out += reasoning
    read = [
        count(asked.get("cached_tokens")),
        count(root.get("prompt_cache_hit_tokens")),
        count(root.get("cached_tokens")),
    ]
    written = [count(asked.get("cache_write_tokens")), count(root.get("cache_creation_input_tokens"))]
    usage = Usage(
        input_tokens=into,
        output_tokens=out,
        cache_read_tokens=next((count for count in read if count is not None), None),
        cache_write_tokens=next((count for count in written if count is not None), None),
        reasoning_tokens=reasoning,
    )
    return None if usage == Usage() else usage
