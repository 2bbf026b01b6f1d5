"""From the body of ``generateContent`` to a reply, or to the error that it is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from harness.providers._gemini.parts import as_parts, opaque_of, reasoning_of, sent_calls, text_of
from harness.providers._wire.answer import as_object, bad, count, word
from harness.providers._wire.calls import numbered, seed_of
from harness.providers._wire.finish import FINISH_WORDS, failed_answer, finish_of
from harness.providers._wire.markup import looks_like_call
from harness.providers._wire.strict_json import oddities_of
from harness.schema.base import JsonValue
from harness.schema.message import FinishReason, Quirk, Reply, Usage

__all__ = ["read_answer"]


def read_answer(root: dict[str, JsonValue], status: int, oddities: Iterable[Quirk] = ()) -> Reply:
    """The reply in an answer; ``oddities`` were seen before it was put together.

    A question that was blocked is a reply that says nothing and was filtered.

    Raises:
        ProviderError: ``bad_response`` for anything that is no answer, else what the body says went wrong; ``partial``
            is what it says besides.
    """
    candidates = [] if root.get("candidates") is None else root["candidates"]
    if not isinstance(candidates, list):
        raise bad("candidates that are no list", status)
    if not candidates:
        return _blocked(root, status)
    # an index of 0 is left out on the wire
    first = min(candidates, key=lambda one: count(as_object(one).get("index")) or 0)
    parts = as_parts(first.get("content")) if isinstance(first, dict) else None
    if not isinstance(first, dict) or parts is None:
        raise bad("a candidate whose content cannot be read", status)
    text, reasoning, said = text_of(parts), reasoning_of(parts), word(first.get("finishReason"))
    sent = sent_calls(parts)
    finish, ending = _finish(said, calls=bool(sent))
    seed = partial(seed_of, root.get("responseId"), root)
    calls, numbering = numbered(sent, seed, has_ids=False, truncated=finish == "length")
    quirks: set[Quirk] = {*oddities_of(root), *oddities, *numbering, *ending}
    if not calls and (looks_like_call(text) or looks_like_call(reasoning)):
        quirks.add("tool_call_markup_in_text")
    if len(candidates) > 1:
        quirks.add("alternative_choices")
    reply = Reply(
        text=text,
        calls=calls,
        reasoning=reasoning,
        refusal=word(first.get("finishMessage")) if finish == "refusal" else None,
        finish=finish,
        finish_word=said,
        usage=_usage(root.get("usageMetadata")),
        quirks=tuple(sorted(quirks)),
        opaque=opaque_of(parts, text, calls),
        model=word(root.get("modelVersion")),
    )
    failed = failed_answer(reply, status, delivered=True)
    if failed is not None:
        raise failed
    return reply


def _blocked(root: dict[str, JsonValue], status: int) -> Reply:
    """An answer without candidates: its question was blocked, or it is none."""
    blocked = word(as_object(root.get("promptFeedback")).get("blockReason"))
    usage, model = _usage(root.get("usageMetadata")), word(root.get("modelVersion"))
    if blocked is not None:
        return Reply(text=None, finish="content_filter", finish_word=blocked, usage=usage, model=model)
    error = bad("no candidates", status)
    error.partial = None if usage is None else Reply(text=None, finish=None, usage=usage, model=model)
    raise error


def _finish(said: str | None, *, calls: bool) -> tuple[FinishReason, tuple[Quirk, ...]]:
    """The reason that a word means, and what is odd about it. An answer that calls stops like any other here."""
    finish, quirks = finish_of(said, calls=calls, refused=False)
    if calls and said is not None and FINISH_WORDS.get(said.lower()) == "stop":
        return finish, ()
    return finish, quirks


def _usage(sent: JsonValue) -> Usage | None:
    """Tokens as counted by the provider, which counts thoughts, and what its own tools put in, apart.

    A count of nothing is left out on the wire: that no output was counted is nothing where the total is all input.
    """
    root = as_object(sent)
    asked, fed = count(root.get("promptTokenCount")), count(root.get("toolUsePromptTokenCount"))
    said, thought = count(root.get("candidatesTokenCount")), count(root.get("thoughtsTokenCount"))
    into = None if asked is None else asked + (fed or 0)
    out = None if said is None and thought is None else (said or 0) + (thought or 0)
    if out is None and into is not None and count(root.get("totalTokenCount")) == into:
        out = 0
    usage = Usage(
        input_tokens=into,
        output_tokens=out,
        cache_read_tokens=count(root.get("cachedContentTokenCount")),
        reasoning_tokens=thought,
    )
    return None if usage == Usage() else usage
