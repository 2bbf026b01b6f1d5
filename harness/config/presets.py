"""The providers that can be named, each a row: dialect, address, key, and what it calls things."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from harness.config.gemini_settings import problem_of_settings as problem_of_gemini
from harness.config.messages_settings import problem_of_settings as problem_of_messages
from harness.errors import CatalogError, UsageError
from harness.schema.message import GenerationSettings

__all__ = ["PRESETS", "Preset", "address_for", "check_settings", "resolve"]


@dataclass(frozen=True, slots=True)
class Preset:
    """One provider.

    ``codec`` is the name of a file in ``providers/``; ``base_url`` is None where the user must give one; without
    ``key_required`` an unset ``key_env`` means no credentials. ``token_field`` is what the wire calls
    ``max_output_tokens``, ``seed_field`` what it calls ``seed``, and ``required_word`` how it says that a tool must be
    called. ``refuses`` are generation settings that this provider does not know or does not heed: ``NAME``, or
    ``NAME=VALUE`` for one value. With ``counts_streams`` a stream is asked to tell its usage (``stream_options``). With
    ``short_ids`` the ids of calls must be nine letters or digits.
    """

    name: str
    base_url: str | None
    key_env: str
    codec: str = "openai"
    key_required: bool = True
    token_field: Literal["max_completion_tokens", "max_output_tokens", "max_tokens"] = "max_tokens"  # noqa: S105  (a field's name)
    refuses: frozenset[str] = frozenset()
    counts_streams: bool = True
    seed_field: Literal["seed", "random_seed"] = "seed"
    required_word: Literal["required", "any"] = "required"
    short_ids: bool = False


PRESETS: Final = (
    Preset(
        name="openai",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        token_field="max_completion_tokens",  # noqa: S106  (a field's name)
        refuses=frozenset({"thinking"}),
    ),
    Preset(
        name="openai-responses",
        codec="openai_responses",
        base_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        token_field="max_output_tokens",  # noqa: S106  (a field's name)
        refuses=frozenset({"seed", "thinking"}),
    ),
    Preset(
        name="anthropic",
        codec="anthropic",
        base_url="https://api.anthropic.com",
        key_env="ANTHROPIC_API_KEY",
        refuses=frozenset({"seed"}),
    ),
    Preset(
        name="gemini",
        codec="gemini",
        base_url="https://generativelanguage.googleapis.com",
        key_env="GEMINI_API_KEY",
        refuses=frozenset({"parallel_tool_calls"}),
    ),
    Preset(
        name="ark",
        base_url="https://ark.cn-beijing.volces.com/api/v3",
        key_env="ARK_API_KEY",
    ),
    Preset(
        name="deepseek",
        base_url="https://api.deepseek.com/v1",
        key_env="DEEPSEEK_API_KEY",
        refuses=frozenset({"seed", "parallel_tool_calls", "thinking=auto", "reasoning_effort=none"}),
    ),
    Preset(
        name="groq",
        base_url="https://api.groq.com/openai/v1",
        key_env="GROQ_API_KEY",
        token_field="max_completion_tokens",  # noqa: S106  (a field's name)
        refuses=frozenset({"thinking"}),
    ),
    Preset(
        name="mistral",
        base_url="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        refuses=frozenset({"thinking"}),
        counts_streams=False,
        seed_field="random_seed",
        required_word="any",
        short_ids=True,
    ),
    Preset(
        name="openrouter",
        base_url="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
        refuses=frozenset({"thinking"}),
    ),
    Preset(
        name="moonshot",
        base_url="https://api.moonshot.ai/v1",
        key_env="MOONSHOT_API_KEY",
        refuses=frozenset({"seed", "parallel_tool_calls", "thinking=auto", "tool_choice=required"}),
    ),
    Preset(
        name="z.ai",
        base_url="https://api.z.ai/api/paas/v4",
        key_env="ZAI_API_KEY",
        refuses=frozenset({"seed", "parallel_tool_calls", "thinking=auto", "tool_choice=required", "tool_choice=none"}),
        counts_streams=False,
    ),
    Preset(
        name="ollama",
        base_url="http://127.0.0.1:11434/v1",
        key_env="OLLAMA_API_KEY",
        key_required=False,
        refuses=frozenset({"thinking", "parallel_tool_calls", "tool_choice=required", "tool_choice=none"}),
    ),
    Preset(
        name="vllm",
        base_url="http://127.0.0.1:8000/v1",
        key_env="VLLM_API_KEY",
        key_required=False,
        refuses=frozenset({"thinking"}),
    ),
    Preset(
        name="llama.cpp",
        base_url="http://127.0.0.1:8080/v1",
        key_env="LLAMA_API_KEY",
        key_required=False,
        refuses=frozenset({"thinking"}),
    ),
    Preset(
        name="openai-compatible",
        base_url=None,
        key_env="HARNESS_API_KEY",
        key_required=False,
    ),
)

#: Codec -> why its API would not take settings beside each other, with what to do; None where it would.
_PROBLEMS: Final[dict[str, Callable[[GenerationSettings], str | None]]] = {
    "anthropic": problem_of_messages,
    "gemini": problem_of_gemini,
}


def resolve(name: str) -> Preset:
    """The preset of that name. Raises CatalogError, which lists the names."""
    for preset in PRESETS:
        if preset.name == name:
            return preset
    raise CatalogError("provider", name, tuple(preset.name for preset in PRESETS))


def address_for(preset: Preset, base_url: str | None) -> str:
    """The base URL to use: the given one, else the preset's. Raises UsageError where there is none."""
    address = base_url or preset.base_url
    if address is None:
        raise UsageError(f"provider {preset.name} needs an address: {preset.name}/MODEL@http://HOST:PORT/v1")
    return address


def check_settings(preset: Preset, settings: GenerationSettings) -> None:
    """Raise UsageError where a setting is given that the provider does not know, or not beside the others."""
    given = {name for name in type(settings).model_fields if getattr(settings, name) is not None}
    refused = sorted(given & preset.refuses)
    if refused:
        raise UsageError(f"provider {preset.name} knows no setting {refused[0]!r}; leave it out")
    unheeded = sorted({f"{name}={getattr(settings, name)}" for name in given} & preset.refuses)
    if unheeded:
        name, _, value = unheeded[0].partition("=")
        raise UsageError(f"provider {preset.name} takes no {name} {value!r}; leave it out")
    problem_of = _PROBLEMS.get(preset.codec)
    problem = None if problem_of is None else problem_of(settings)
    if problem is not None:
        raise UsageError(f"provider {preset.name} {problem}")
