"""Which streams that broke off are recorded: those whose reply, or whose failure, is used."""

from __future__ import annotations

import pytest

from harness import catalog
from harness.ports import Provider
from harness.schema.message import Reply, Usage
from harness.wiring.recordings import _is_answer

REPLY = Reply(text="Hello there.", finish="stop", usage=Usage(input_tokens=1, output_tokens=2))
#: How many of the last events say nothing that is needed.
NOT_NEEDED = {"openai": 2, "openai_responses": 0, "anthropic": 0, "gemini": 0}


@pytest.mark.parametrize("name", catalog.names("providers"))
def test_a_stream_is_recorded_as_soon_as_it_is_an_answer(name: str) -> None:
    codec: Provider = catalog.module("providers", name).build()
    events = codec.encode_stream(REPLY)
    least = len(events) - NOT_NEEDED[name]
    found = [_is_answer(codec, b"".join(events[:count])) for count in range(len(events) + 1)]
    assert found == [count >= least for count in range(len(events) + 1)]
    assert _is_answer(codec, events[0] + b'data: {"error":{"message":"x"}}\n\n')
    assert not _is_answer(codec, b'{"half":')
