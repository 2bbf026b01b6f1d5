"""The keys that this environment gives to providers."""

from __future__ import annotations

from harness import config
from harness.wiring.places import Settings

__all__ = ["key_variables", "known_keys"]


def key_variables(place: Settings) -> tuple[str, ...]:
    """Names of the variables that hold a key of any provider, or actor of ``harness.toml``. Raises ConfigError."""
    named = config.load_actors(place.config).values()
    names = {preset.key_env for preset in config.PRESETS} | {one.key_env for one in named if one.key_env is not None}
    return tuple(sorted(names))


def known_keys(place: Settings) -> tuple[str, ...]:
    """Every key that any provider, or actor of ``harness.toml``, would be given here. Raises ConfigError."""
    return tuple(place.environ[name] for name in key_variables(place) if place.environ.get(name, "").strip())
