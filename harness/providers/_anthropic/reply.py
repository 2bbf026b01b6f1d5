"""From the body of a message to a reply, or to the error that it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from harness.providers._anthropic.content import Block, as_blocks, opaque_of, reasoning_of, sent_calls, text_of
from harness.providers._wire.answer import as_object, bad, count, word
from harness.providers._wire.calls import numbered, seed_of
from harness.providers._wire.finish import failed_answer, finish_of
from harness.providers._wire.markup import looks_like_call
from harness.providers._wire.own_usage import own_usage
from harness.providers._wire.strict_json import oddities_of
from harness.schema.base import JsonValue
from harness.schema.message import Quirk, Reply, Usage

__all__ = ["read_message"]


def read_message(
    root: dict[str, JsonValue],
    status: int,
    *,
    texts: Mapping[int, str] | None = None,
    still_open: Collection[int] = (),
    oddities: tuple[Quirk, ...] = (),
) -> Reply:
    """The reply in a message.

    Of a folded stream ``texts`` holds the arguments that came as text, by the position of their block, ``still_open``
    the positions of blocks that were never closed, and ``oddities`` what only a stream can have.

    Raises:
        ProviderError: ``bad_response`` for anything that is no message, else what the body says went wrong.
    """
    blocks = as_blocks(root.get("content"))
    if blocks is None or root.get("type") not in (None, "message"):
        raise bad("no message", status)
    if not all(_is_block(block) for block in blocks):
        raise bad("a block without a type, or of text without text", status)
    text, reasoning, refusal = text_of(blocks), reasoning_of(blocks), _refusal(root.get("stop_details"))
    said = word(root.get("stop_reason"))
    sent = sent_calls(blocks, texts or {}, still_open, has_reason=said is not None)
    finish, ending = finish_of(said, calls=bool(sent), refused=refusal is not None)
    whole: JsonValue = [root, {str(position): arguments for position, arguments in (texts or {}).items()}]
    calls, numbering = numbered(sent, partial(seed_of, root.get("id"), whole), truncated=finish == "length")
    markup: tuple[Quirk, ...] = ()
    if not calls and (looks_like_call(text) or looks_like_call(reasoning)):
        markup = ("tool_call_markup_in_text",)
    reply = Reply(
        text=text,
        calls=calls,
        reasoning=reasoning,
        refusal=refusal,
        finish=finish,
        finish_word=said,
        usage=_usage(root.get("usage")),
        quirks=tuple(sorted({*oddities_of(root), *oddities, *numbering, *ending, *markup})),
        opaque=opaque_of(blocks, text, calls),
        model=word(root.get("model")),
    )
    failed = failed_answer(reply, status, delivered=True)
    if failed is not None:
        raise failed
    return reply


def _is_block(block: Block) -> bool:
    kind = word(block.get("type"))
    return kind is not None and (kind not in {"text", "thinking"} or isinstance(block.get(kind) or "", str))


def _refusal(details: JsonValue) -> str | None:
    """Why the model, or its guard, refused: only newer models say it."""
    found = as_object(details)
    return word(found.get("explanation")) if found.get("type") == "refusal" else None


def _usage(sent: JsonValue) -> Usage | None:
    """Tokens as counted by the provider, which counts cached input apart; None where it counted nothing."""
    root = as_object(sent)
    usage = own_usage(root) or Usage(
        output_tokens=count(root.get("output_tokens")),
        cache_read_tokens=count(root.get("cache_read_input_tokens")),
        cache_write_tokens=count(root.get("cache_creation_input_tokens")),
    )
    return None if usage == Usage() else usage
