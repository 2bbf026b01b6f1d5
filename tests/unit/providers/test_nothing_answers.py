"""What is said of an address at which nothing answers."""

from __future__ import annotations

from types import ModuleType

import pytest

from harness.config import PRESETS, nothing_answers
from harness.errors import ProviderError
from harness.ports import WireResponse
from harness.providers import anthropic, gemini, openai, openai_responses
from harness.schema.message import ModelRequest, UserMessage


@pytest.mark.parametrize(
    ("dialect", "advice"),
    [
        (openai, "mostly ends in /v1, and never in /chat/completions"),
        (openai_responses, "mostly ends in /v1, and never in /responses"),
        (anthropic, "must not end in /v1 or /v1/messages"),
        (gemini, "must not end in /v1beta or /v1beta/models"),
    ],
)
@pytest.mark.parametrize("decode", ["decode_reply", "decode_stream"])
def test_a_path_at_which_nothing_is_tells_what_the_dialect_adds_to_an_address(
    dialect: ModuleType, advice: str, decode: str
) -> None:
    codec = dialect.build()
    with pytest.raises(ProviderError) as caught:
        getattr(codec, decode)(WireResponse(404, {}, b"404 page not found"))
    said = str(caught.value)
    assert advice in said
    added = said.partition("harness adds ")[2].partition(" to the address")[0]
    assert codec.path(ModelRequest(model="m", tools=(), messages=(UserMessage(text="x"),))).startswith(added)


def test_every_provider_has_advice() -> None:
    for preset in PRESETS:
        assert "to the address" in nothing_answers(preset.codec)
