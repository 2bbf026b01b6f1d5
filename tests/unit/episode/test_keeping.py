"""What an episode keeps and what it names by digest is written in the same bytes by every version."""

from __future__ import annotations

from harness.episode.encoding import EncodedMessages, kept_json
from harness.schema.message import (
    AssistantMessage,
    GenerationSettings,
    ModelRequest,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from harness.schema.observation import Channel, Observation, ReadObservation
from harness.schema.tool import ToolCall, ToolSpec, TypedError

SEEN = Observation(
    ran=True,
    ok=False,
    text="\u00fc\ud800 {",
    exit_code=2,
    error=TypedError(class_="terminal", code="gone"),
    answer={"b": [1, None], "a": 1.5},
    reads=(ReadObservation(target="project/a.json", role="content", ran=True, exit_code=0, text="x"),),
    stdout=Channel.counted(5, 3),
    sections=(1, 2),
)
KEPT = (
    '{"state": "sha256:0", "value": {"answer": {"b": [1, null], "a": 1.5}, '
    '"error": {"class": "terminal", "code": "gone"}, "exit_code": 2, "ok": false, "ran": true, '
    '"reads": [{"exit_code": 0, "ran": true, "role": "content", "target": "project/a.json", "text": "x"}], '
    '"refused": null, "sections": [1, 2], "signal": null, "stderr": null, '
    '"stdout": {"dropped": 2, "retained": 3, "seen": 5, "truncated": true, "unit": "bytes"}, '
    r'"text": "\u00fc\ud800 {", "timed_out": false}}'
)
GOOD = ToolCall(id="call-1", name="exec", arguments_raw='{"cmd":"\u00fc"}', arguments={"cmd": "\u00fc"})
BAD = ToolCall(id="call-2", name="exec", arguments_raw="{", arguments=None, fault="malformed_arguments")
REQUEST = ModelRequest(
    model="m",
    messages=(
        SystemMessage(text="s"),
        UserMessage(text="u\ud800"),
        AssistantMessage(text=None, calls=(GOOD, BAD), opaque={"z": 1, "a": [None]}),
        ToolMessage(call_id="call-1", name="exec", text="t", failed=True),
    ),
    tools=(ToolSpec(name="exec", description="d", parameters={"type": "object"}),),
    settings=GenerationSettings(seed=1),
)
ENCODED = (
    b'{"role":"system","text":"s"}',
    b'{"role":"user","text":"u\xed\xa0\x80"}',
    (
        b'{"calls":[{"arguments":{"cmd":"\xc3\xbc"},"arguments_raw":"{\\"cmd\\":\\"\xc3\xbc\\"}","fault":null,"id":"call-1",'
        b'"name":"exec"},{"arguments":null,"arguments_raw":"{","fault":"malformed_arguments","id":"call-2","name":"exec"}],'
        b'"opaque":{"a":[null],"z":1},"role":"assistant","text":null}'
    ),
    b'{"call_id":"call-1","failed":true,"name":"exec","role":"tool","text":"t"}',
)
FRAME = (
    b'],"model":"m","settings":{"max_output_tokens":null,"parallel_tool_calls":null,"reasoning_effort":null,"seed":1,'
    b'"temperature":null,"thinking":null,"tool_choice":null,"top_p":null},'
    b'"tools":[{"description":"d","name":"exec","parameters":{"type":"object"}}]}'
)


def test_a_result_is_kept_with_all_its_fields() -> None:
    assert kept_json({"state": "sha256:0", "value": SEEN}) == KEPT.encode("ascii")
    assert kept_json({"state": "sha256:0", "value": None}) == b'{"state": "sha256:0", "value": null}'


def test_a_request_is_encoded_with_all_its_fields() -> None:
    encoded = EncodedMessages(lambda value: value, lambda _: False)
    assert tuple(encoded.parts(REQUEST.messages)) == ENCODED
    assert encoded.frame(REQUEST) == FRAME
