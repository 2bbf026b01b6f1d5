"""What is said in the bodies of requests and answers.

The messages of the known dialects are known; whatever else stands there is given as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.schema.base import JsonValue
from harness.schema.message import Reply
from harness.schema.recording import RecordedRequest, RecordedResponse
from harness.schema.transcript import Speaker
from harness.transcript.blocks import Said, as_text, content, of_blocks, of_item, system, tool_names

__all__ = ["Said", "as_text", "asked", "messages", "offered", "replied", "spoken_by", "told_beside"]

#: Where the known dialects keep their messages.
_LISTS = ("messages", "input", "contents")
_SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "model",
    "model": "model",
    "tool": "tool",
    "function": "tool",
}
_OK = 200
#: How ids begin that a decoder made, because the provider gave none.
_MADE = "made-"


def messages(request: RecordedRequest) -> list[JsonValue]:
    """The conversation that a request carries; empty where none is found."""
    body = request.body
    for name in _LISTS if isinstance(body, dict) else ():
        found = body.get(name) if isinstance(body, dict) else None
        if isinstance(found, list):
            return found
    return []


def offered(request: RecordedRequest) -> str:
    """The names of the tools in a request, or nothing."""
    tools = request.body.get("tools") if isinstance(request.body, dict) else None
    return ", ".join(name for name in tool_names(tools) if name)


def told_beside(request: RecordedRequest) -> str:
    """What the model is told beside the messages, or nothing."""
    return system(request.body)


def asked(message: JsonValue) -> Iterator[Said]:
    """The texts of one message of a request."""
    if not isinstance(message, dict):
        yield Said("user", "", as_text(message))
        return
    role = message.get("role")
    speaker = _SPEAKERS.get(role, "user") if isinstance(role, str) else "user"
    item = of_item(message)
    blocks = of_blocks(message, speaker) if item is None else item
    if blocks is not None:
        yield from blocks
        return
    if speaker == "model":
        yield from _spoken(message)
        return
    call = message.get("tool_call_id")
    about = f"result of {call}" if isinstance(call, str) else ""
    yield Said(speaker, about, content(message.get("content")))


def replied(response: RecordedResponse, read: Reply | None = None) -> Iterator[Said]:
    """The texts of an answer: the reply in it, or the answer itself.

    ``read`` is what its dialect's decoder makes of it, where there is one: a reply that is no chat completion is told
    from that.
    """
    message, finish = _reply(response.body)
    if response.status == _OK and message is None and read is not None:
        yield from spoken_by(read)
        return
    if response.status != _OK or message is None:
        yield Said("provider", f"HTTP {response.status}", as_text(response.body))
        return
    found = list(_spoken(message))
    yield from found or [Said("model", "says nothing", "")]
    if finish:
        yield Said("provider", f"finish {finish}", "")


def spoken_by(reply: Reply) -> Iterator[Said]:
    """The texts of a reply that was decoded."""
    said = (("thinks", reply.reasoning), ("refuses", reply.refusal), ("says", reply.text))
    found = [Said("model", about, text) for about, text in said if text]
    for call in reply.calls:
        number = "" if call.id.startswith(_MADE) else f" ({call.id})"
        given = call.arguments_raw if call.arguments is None else as_text(call.arguments)
        found.append(Said("model", f"calls {call.name}{number}", given))
    yield from found or [Said("model", "says nothing", "")]
    word = reply.finish_word or reply.finish
    if word:
        yield Said("provider", f"finish {word}", "")


def _reply(body: JsonValue) -> tuple[dict[str, JsonValue] | None, str]:
    """The message of the first choice, and why it ended."""
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    finish = first.get("finish_reason") if isinstance(first, dict) else None
    return (message if isinstance(message, dict) else None), (finish if isinstance(finish, str) else "")


def _spoken(message: dict[str, JsonValue]) -> Iterator[Said]:
    for key, about in (("reasoning_content", "thinks"), ("refusal", "refuses"), ("content", "says")):
        text = content(message.get(key))
        if text:
            yield Said("model", about, text)
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            yield Said("model", "calls", as_text(call))
            continue
        name = f"calls {as_text(function.get('name'))}"
        number = call.get("id")
        about = f"{name} ({number})" if isinstance(number, str) and number else name
        yield Said("model", about, as_text(function.get("arguments")))
