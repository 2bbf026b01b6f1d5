"""What a captured answer of a provider comes to: reply or error, and the request that would follow it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from harness import catalog, documents, gate
from harness.documents import DocumentError
from harness.errors import ProviderError, UsageError
from harness.ports import Provider, WireResponse
from harness.schema.base import JsonValue, canonical_json
from harness.schema.message import (
    AssistantMessage,
    GenerationSettings,
    Message,
    ModelRequest,
    Reply,
    ToolMessage,
    UserMessage,
)
from harness.schema.tool import CallFault, ToolCall, ToolSpec
from harness.schema.wire_file import API_CODECS, WireAnswer, WireContext, WireFile

__all__ = ["Explained", "Judged", "explain", "judged", "read_answer", "read_as", "read_wire_file", "words_of"]

_Value = TypeVar("_Value")
_FILE = TypeAdapter(WireFile)
#: Stands for the model's name and the prompt where a file does not hold the request.
MODEL, PROMPT = "m-1", "go"
#: Keys under which providers put their own words about a failure.
_SAID = ("message", "detail", "msg", "status_msg", "error")
#: Most of a provider's own words that are shown, in characters.
_WORDS_MAX = 4000


@dataclass(frozen=True, slots=True)
class Judged:
    """A call, and whether it would run; ``fault`` is ``unknown_tool`` too."""

    call: ToolCall
    fault: CallFault | str | None
    executes: bool


@dataclass(frozen=True, slots=True)
class Explained:
    """One answer, read. ``reply`` is what had been said before where there is an ``error``; it may be nothing.

    ``said`` is what the provider itself says of a failure; ``following`` the body that would be sent next, None where
    nothing would be.
    """

    reply: Reply | None
    error: ProviderError | None
    calls: tuple[Judged, ...]
    said: tuple[str, ...]
    following: JsonValue


def read_wire_file(path: Path) -> WireFile:
    """The captured answer in a file. Raises UsageError."""
    return read_as(path, _FILE)


def read_as(path: Path, kind: TypeAdapter[_Value], needed: str = "") -> _Value:
    """What a JSON file holds. Raises UsageError, one line: what is wrong, where, and what is ``needed``."""
    try:
        text = documents.decoded(documents.read_file(path))
        # as a parser of JSON reads it, lone surrogates included, which the schema's own reader refuses
        return kind.validate_python(json.loads(text))
    except DocumentError as error:
        raise UsageError(f"{path}: {error}") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(part) for part in first["loc"]) or "the whole"
        raise UsageError(f"{path}: {place}: {first['msg']}{needed and f'; needed: {needed}'}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: is no JSON that can be read") from None


def explain(file: WireFile) -> tuple[Explained, ...]:
    """The answer of a file and those that followed it, in one conversation."""
    codec: Provider = catalog.module("providers", API_CODECS[file.api]).build()
    settings = GenerationSettings(
        max_output_tokens=file.context.max_output_tokens, stream=True if file.stream else None
    )
    tools = tuple(one.spec for one in file.context.tools or ())
    results = iter(file.context.tool_results)
    messages: list[Message] = [UserMessage(text=PROMPT)]
    found = []
    known = tools if file.context.tools is not None else None
    now = _time(file.context.now, file.id)
    for answer in (file.http, *file.then):
        one = read_answer(codec, _response(answer), stream=file.stream, tools=known, now=now)
        more = [] if one.error or one.reply is None else _following(one.reply, one.calls, results, file.context)
        messages += more
        if more:
            request = ModelRequest(model=MODEL, messages=tuple(messages), tools=tools, settings=settings)
            one = replace(one, following=json.loads(codec.encode_request(request)))
        found.append(one)
    return tuple(found)


def read_answer(
    codec: Provider,
    response: WireResponse,
    *,
    stream: bool,
    tools: Sequence[ToolSpec] | None = None,
    now: datetime | None = None,
) -> Explained:
    """One answer; ``tools`` are those that were declared (None: any name counts as known), nothing follows."""
    decode = codec.decode_stream if stream else codec.decode_reply
    try:
        reply = decode(response, now=now)
    except ProviderError as error:
        said = words_of(response.body.decode("utf-8", "replace"))
        return Explained(error.partial, error, judged(error.partial, error, tools), said, None)
    return Explained(reply, None, judged(reply, None, tools), (), None)


def _response(answer: WireAnswer) -> WireResponse:
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return WireResponse(answer.status, headers, answer.body, "connection_lost" if answer.is_cut else None)


def _time(said: str | float | None, name: str) -> datetime | None:
    if said is None:
        return None
    try:
        if isinstance(said, int | float):
            return datetime.fromtimestamp(said, UTC)
        time = datetime.fromisoformat(said) if said[:1].isdigit() else parsedate_to_datetime(said)
    except (ValueError, TypeError, OverflowError, OSError):
        raise UsageError(
            f"{name}: context/now: no time; allowed: an HTTP date, ISO 8601, or seconds since 1970"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def judged(reply: Reply | None, error: ProviderError | None, tools: Sequence[ToolSpec] | None) -> tuple[Judged, ...]:
    """The calls of an answer. None of one that failed, was refused or filtered runs.

    ``tools`` are those that were declared; None: any name counts as known.
    """
    if reply is None:
        return ()
    usable = error is None and reply.finish not in {"refusal", "content_filter", "error"}
    found = []
    for call in reply.calls:
        unknown = tools is not None and gate.check_declared(call.name, tuple(tools)) is not None
        fault = call.fault or ("unknown_tool" if unknown else None)
        found.append(Judged(call, fault, usable and fault is None))
    return tuple(found)


def _following(
    reply: Reply, calls: Sequence[Judged], results: Iterator[JsonValue], context: WireContext
) -> list[Message]:
    """What joins the conversation after a reply; nothing where it was the last word."""
    is_over = not calls and reply.finish != "pause" and context.pending_user_text is None
    if is_over or not all(one.executes or one.fault for one in calls):
        return []
    more: list[Message] = []
    if calls or (reply.text or "").strip() or reply.finish == "pause":
        more.append(AssistantMessage(text=reply.text, calls=reply.calls, opaque=reply.opaque))
    for one in calls:
        text = _result(next(results, "")) if one.executes else f"error: {one.fault}; the call was not run"
        more.append(ToolMessage(call_id=one.call.id, name=one.call.name, text=text, failed=not one.executes))
    if context.pending_user_text is not None:
        more.append(UserMessage(text=context.pending_user_text))
    return more


def _result(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    return canonical_json(value) if value else ""


def words_of(body: str) -> tuple[str, ...]:
    """What a body says of a failure in its provider's own words, bounded: each message, then the body as it came."""
    found: list[str] = []
    waiting = list(_values(body))
    while waiting and len(found) < 20:  # noqa: PLR2004  (more are no help)
        value = waiting.pop(0)
        if isinstance(value, dict):
            found += [text[:_WORDS_MAX] for key in _SAID if isinstance(text := value.get(key), str) and text]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return (*dict.fromkeys(found), body[:_WORDS_MAX])


def _values(body: str) -> Iterator[JsonValue]:
    """The JSON value of a body, or those of the data lines of a stream."""
    lines = [line.partition(":")[2] for line in body.splitlines() if line.startswith("data:")]
    for text in lines or [body]:
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue
