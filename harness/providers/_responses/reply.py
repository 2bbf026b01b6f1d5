"""From a response object to a reply, or to the error that it is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from harness.errors import ProviderError
from harness.providers._responses.items import OUTPUT, call_sent, is_call, plain_output, texts_of
from harness.providers._wire.answer import as_object, bad, count, what_is, word
from harness.providers._wire.calls import numbered, seed_of
from harness.providers._wire.failures import failure_inside
from harness.providers._wire.markup import looks_like_call
from harness.providers._wire.strict_json import NotJsonError, oddities_of, read_json
from harness.schema.base import JsonValue
from harness.schema.message import FinishReason, Quirk, Reply, Usage

__all__ = ["FINISHES", "NOT_WORDS", "failure_with", "partial_of", "read_reply", "read_whole"]

#: The status of a whole response, or why it is incomplete -> our reason.
FINISHES: Final[dict[str, FinishReason]] = {
    "completed": "stop",
    "max_output_tokens": "length",
    "content_filter": "content_filter",
}
_FAILED: Final = frozenset({"failed", "cancelled"})
_NOT_READY: Final = frozenset({"queued", "in_progress"})
#: What the status of a reply never is.
NOT_WORDS: Final = _FAILED | _NOT_READY


def read_whole(body: bytes, status: int) -> Reply:
    """The reply in a body that came with a successful status.

    Raises:
        ProviderError: ``bad_response`` for anything that is no response, else what the body says went wrong.
    """
    try:
        root = read_json(body)
    except NotJsonError:
        raise bad(what_is(body), status) from None
    if isinstance(root, dict):
        return read_reply(root, status)
    raise failure_inside(root, status) or bad("no JSON object", status)


def read_reply(root: dict[str, JsonValue], status: int, oddities: Iterable[Quirk] = ()) -> Reply:
    """The reply in a response object; ``oddities`` were seen before. Raises ProviderError as ``read_whole`` does."""
    state = word(root.get("status"))
    failure = failure_inside(root, status)
    if failure is None and state in _FAILED:
        text = "the provider reported that the response failed"
        failure = ProviderError("server_error", text, retryable=True, http_status=status)
    if failure is not None:
        raise failure_with(failure, partial_of(root, "error"))
    if state in _NOT_READY:
        raise bad("a response that is not finished", status)
    if not isinstance(root.get(OUTPUT), list):
        raise bad("no output", status)
    return _reply(root, status, oddities)


def failure_with(failure: ProviderError, partial: Reply | None) -> ProviderError:
    """The failure with what had been said before it."""
    if partial is not None:
        is_filtered = failure.category == "content_filter"
        failure.partial = partial.model_copy(update={"finish": "content_filter"}) if is_filtered else partial
        failure.delivered = True
    return failure


def partial_of(root: dict[str, JsonValue], finish: FinishReason | None) -> Reply | None:
    """What an unfinished response says: evidence, so nothing in it is odd or must go back. None where it is nothing."""
    sent = root.get(OUTPUT)
    items = [item for item in sent if isinstance(item, dict)] if isinstance(sent, list) else []
    said = _reply({**root, OUTPUT: list(items)}, 200)
    has_any = (said.text or said.calls or said.reasoning or said.refusal) or said.usage is not None
    if not has_any:
        return None
    return said.model_copy(update={"finish": finish, "finish_word": None, "quirks": (), "opaque": None})


def _reply(root: dict[str, JsonValue], status: int, seen: Iterable[Quirk] = ()) -> Reply:
    sent = root.get(OUTPUT)
    items = [item for item in sent if isinstance(item, dict)] if isinstance(sent, list) else []
    if not isinstance(sent, list) or len(items) != len(sent):
        raise bad("an output that is no list of objects", status)
    text, reasoning, refusal = texts_of(items)
    wire = [item for item in items if is_call(item)]
    seed = partial(seed_of, root.get("id"), root)
    said = _word_of(root)
    is_cut = root.get("status") == "incomplete" or FINISHES.get(said or "", "stop") != "stop"
    calls, oddities = numbered([call_sent(item) for item in wire], seed, truncated=is_cut)
    quirks: set[Quirk] = {*oddities_of(root), *seen, *oddities}
    if said is None:
        quirks.add("finish_missing")
    if not calls and (looks_like_call(text) or looks_like_call(reasoning)):
        quirks.add("tool_call_markup_in_text")
    return Reply(
        text=text,
        calls=calls,
        reasoning=reasoning,
        refusal=refusal,
        finish=_finish(said, calls=bool(calls), refused=refusal is not None),
        finish_word=said,
        usage=_usage(root.get("usage")),
        quirks=tuple(sorted(quirks)),
        opaque=None if sent == plain_output(text, calls) else {OUTPUT: sent},
        model=word(root.get("model")),
    )


def _word_of(root: dict[str, JsonValue]) -> str | None:
    """Why the response ended: its status, or the reason that an incomplete one has."""
    state = word(root.get("status"))
    if state != "incomplete":
        return state
    return word(as_object(root.get("incomplete_details")).get("reason")) or state


def _finish(said: str | None, *, calls: bool, refused: bool) -> FinishReason:
    finish = "unknown" if said is None else FINISHES.get(said, "unknown")
    if finish not in {"stop", "unknown"}:
        return finish
    if calls:
        return "tool_calls"
    return "refusal" if refused else finish


def _usage(sent: JsonValue) -> Usage | None:
    """Tokens as counted by the provider; None where it counted nothing that we can read."""
    root = as_object(sent)
    asked, answered = as_object(root.get("input_tokens_details")), as_object(root.get("output_tokens_details"))
    usage = Usage(
        input_tokens=count(root.get("input_tokens")),
        output_tokens=count(root.get("output_tokens")),
        cache_read_tokens=count(asked.get("cached_tokens")),
        cache_write_tokens=count(asked.get("cache_write_tokens")),
        reasoning_tokens=count(answered.get("reasoning_tokens")),
    )
    return None if usage == Usage() else usage
