"""What ``harness wire`` tells of one answer: as JSON, and for a person."""

from __future__ import annotations

import json

from harness.cli.output import harmless
from harness.errors import ProviderError
from harness.schema.base import JsonValue
from harness.schema.message import Reply, Usage, known_count
from harness.wiring.decoding import Explained, Judged

__all__ = ["as_json", "as_text"]

#: Longest text that is shown to a person in one line, in characters.
_SHOWN = 400


def as_json(one: Explained, *, request: bool) -> dict[str, JsonValue]:
    """One answer; ``request`` with the body that would follow."""
    reply = one.reply or Reply(text=None, finish=None)
    told: dict[str, JsonValue] = {
        "tool_calls": [_call(call) for call in one.calls],
        "text": reply.text or "",
        "finish": reply.finish,
        "finish_word": reply.finish_word,
        "usage": _usage(reply.usage),
        "error": None if one.error is None else _error(one.error, one.said),
        "quirks": list(reply.quirks),
        "model": reply.model,
        "fingerprint": reply.fingerprint,
    }
    if reply.reasoning is not None:
        told["reasoning"] = reply.reasoning
    if reply.refusal is not None:
        told["refusal"] = reply.refusal
    if request:
        told["next_request"] = one.following
    return told


def _call(one: Judged) -> JsonValue:
    told: dict[str, JsonValue] = {"id": one.call.id, "name": one.call.name, "arguments": one.call.arguments}
    if one.call.arguments is None:
        told["arguments_raw"] = one.call.arguments_raw
    if one.fault is not None:
        told["fault"] = one.fault
    if not one.executes:
        told["execute"] = False
    return told


def _usage(usage: Usage | None) -> JsonValue:
    if usage is None:
        return None
    into, out = known_count(usage.input_tokens), known_count(usage.output_tokens)
    counts: dict[str, JsonValue] = {"input_tokens": into, "output_tokens": out}
    more = {
        "total_tokens": None if into is None or out is None else into + out,
        "cached_input_tokens": known_count(usage.cache_read_tokens),
        "cache_write_tokens": known_count(usage.cache_write_tokens),
        "reasoning_tokens": known_count(usage.reasoning_tokens),
    }
    return {**counts, **{name: value for name, value in more.items() if value is not None}}


def _error(error: ProviderError, said: tuple[str, ...]) -> JsonValue:
    told: dict[str, JsonValue] = {
        "category": error.category,
        "retryable": error.retryable,
        "http_status": error.http_status,
        "provider_code": error.provider_code,
        "retry_after_s": error.retry_after_s,
    }
    told = {name: value for name, value in told.items() if value is not None}
    return {**told, "message": str(error), "said": list(said)}


def as_text(name: str, one: Explained, *, request: bool) -> str:
    """One answer in lines for a person."""
    reply = one.reply or Reply(text=None, finish=None)
    lines = [name]
    if one.error is not None:
        again = "may be sent again" if one.error.retryable else "must not be sent again as it is"
        wait = "" if one.error.retry_after_s is None else f", after {one.error.retry_after_s:g} s"
        lines += [f"  error      {one.error}", f"             {again}{wait}"]
        lines += [f"  it says    {_short(text)}" for text in one.said[:-1]]
    lines.append(f"  finish     {reply.finish or 'not reached'}" + _word(reply))
    if reply.text:
        lines.append(f"  text       {_short(reply.text)}")
    if reply.reasoning:
        lines.append(f"  reasoning  {_short(reply.reasoning)}")
    if reply.refusal:
        lines.append(f"  refusal    {_short(reply.refusal)}")
    for call in one.calls:
        given = call.call.arguments_raw if call.call.arguments is None else json.dumps(call.call.arguments)
        state = "runs" if call.executes else f"does not run: {call.fault or 'the answer cannot be used'}"
        lines.append(f"  call       {_short(call.call.id)}  {_short(call.call.name)} {_short(given)}  ({state})")
    lines.append(f"  usage      {_counted(reply.usage)}")
    if reply.quirks:
        lines.append(f"  quirks     {', '.join(reply.quirks)}")
    if reply.model:
        lines.append(
            f"  model      {_short(reply.model)}" + (f" ({_short(reply.fingerprint)})" if reply.fingerprint else "")
        )
    if request and one.following is not None:
        lines += ["  next request", *("    " + line for line in json.dumps(one.following, indent=2).splitlines())]
    elif request:
        lines.append("  next request: none")
    return harmless("\n".join(lines))


def _word(reply: Reply) -> str:
    said = reply.finish_word
    return "" if said is None or said == reply.finish else f" (the provider says {_short(said)})"


def _counted(usage: Usage | None) -> str:
    if usage is None:
        return "unknown"
    told = {name: count for name, count in usage.model_dump().items() if count is not None}
    return ", ".join(f"{name.removesuffix('_tokens').replace('_', ' ')} {count}" for name, count in told.items())


def _short(text: str) -> str:
    line = text.replace("\n", "\\n").replace("\r", "\\r")
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}... ({len(text)} characters)"
