"""What is configured rather than written in a scenario: live models, their addresses and generation settings."""

from harness.config.actors_file import ActorConfig, load_actors
from harness.config.live_ref import LiveRef, parse_live_ref
from harness.config.presets import PRESETS, Preset, address_for, check_settings, resolve
from harness.config.price_table import table_price
from harness.config.settings import apply_settings

__all__ = [
    "PRESETS",
    "ActorConfig",
    "LiveRef",
    "Preset",
    "address_for",
    "apply_settings",
    "check_settings",
    "load_actors",
    "parse_live_ref",
    "resolve",
    "table_price",
]
