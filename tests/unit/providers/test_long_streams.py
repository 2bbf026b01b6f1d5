"""The time that a stream takes to be read grows with its length, whatever it is made of."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType

import pytest

from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers import anthropic, gemini, openai, openai_responses
from harness.providers._wire.events import EventReader

FEW, MANY = 500, 8_000


def _event(told: object) -> bytes:
    return b"data: " + json.dumps(told).encode() + b"\n\n"


def _cited(place: int) -> bytes:
    begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}}
    return _event(delta if place else begun)


def _delta(delta: object) -> bytes:
    return _event({"choices": [{"index": 0, "delta": delta}]})


STREAMS: list[tuple[ModuleType, Callable[[int], bytes]]] = [
    (openai, lambda _: _delta({"content": [{"type": "text", "text": "x"}]})),
    (openai, lambda _: _delta({"reasoning_details": [{}]})),
    (openai, lambda place: _event({"choices": [{"index": place, "delta": {"content": "x"}}]})),
    (
        openai_responses,
        lambda place: _event({"type": "response.output_text.delta", "output_index": place, "delta": "x"}),
    ),
    (
        openai_responses,
        lambda place: _event(
            {"type": "response.output_text.delta", "output_index": 0, "content_index": place, "delta": "x"}
        ),
    ),
    (gemini, lambda place: _event({"candidates": [{"index": MANY - place, "content": {"parts": [{"text": "x"}]}}]})),
    (anthropic, _cited),
]
NAMES = ["parts", "thoughts", "choices", "items", "parts of an item", "candidates", "citations"]


@pytest.mark.parametrize(("dialect", "event"), STREAMS, ids=NAMES)
def test_time_grows_with_the_number_of_events(dialect: ModuleType, event: Callable[[int], bytes]) -> None:
    codec = dialect.build()

    def spent(count: int) -> float:
        body = b"".join(event(place) for place in range(count))
        begun = time.process_time()
        with suppress(ProviderError):
            codec.decode_stream(WireResponse(200, {}, body))
        codec.stream_end()(body)
        return time.process_time() - begun

    few = min(spent(FEW) for _ in range(3))
    assert spent(MANY) < few * (MANY / FEW) * 5


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_empty_lines_cost_next_to_nothing(end: bytes) -> None:
    begun = time.process_time()
    assert EventReader().feed(end * 4_000_000) == []
    assert time.process_time() - begun < 0.5


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("empty", [1, 2, 3, 4, 7])
def test_any_number_of_empty_lines_ends_one_event(end: bytes, empty: int) -> None:
    body = (b"event: x" + end + b"data: 1" + end + end * empty) * 2
    expected = [("x", b"1"), ("x", b"1")]
    for size in range(1, len(body) + 1):
        reader = EventReader()
        found = [event for at in range(0, len(body), size) for event in reader.feed(body[at : at + size])]
        assert [(event.name, event.data) for event in [*found, *reader.close()]] == expected
