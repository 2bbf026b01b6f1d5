"""The keys that this environment gives to providers."""

from __future__ import annotations

from harness import config
from harness.wiring.places import CONFIG, Settings

__all__ = ["known_keys"]


def known_keys(place: Settings) -> tuple[str, ...]:
    """Every key that any provider, or actor of ``harness.toml``, would be given here. Raises ConfigError."""
    named = config.load_actors(place.cwd / CONFIG).values()
    names = {preset.key_env for preset in config.PRESETS} | {one.key_env for one in named if one.key_env is not None}
    return tuple(place.environ[name] for name in sorted(names) if place.environ.get(name, "").strip())
