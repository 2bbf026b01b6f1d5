"""What is configured rather than written in a scenario: live models, their addresses and generation settings."""

from harness.config.actors_file import ActorConfig, load_actors
from harness.config.addresses import nothing_answers
from harness.config.commands import COMMANDS, REPORTS, variable
from harness.config.defaults import NEVER, Default, OptionValue, load_defaults, reports_of
from harness.config.live_ref import LiveRef, is_loopback, parse_live_ref
from harness.config.presets import PRESETS, Preset, address_for, check_settings, resolve
from harness.config.price_table import table_price
from harness.config.providers_file import CONCURRENCY_MAX, ProviderConfig, load_providers, read_limits, read_time_outs
from harness.config.settings import apply_settings
from harness.config.tables import find

__all__ = [
    "COMMANDS",
    "CONCURRENCY_MAX",
    "NEVER",
    "PRESETS",
    "REPORTS",
    "ActorConfig",
    "Default",
    "LiveRef",
    "OptionValue",
    "Preset",
    "ProviderConfig",
    "address_for",
    "apply_settings",
    "check_settings",
    "find",
    "is_loopback",
    "load_actors",
    "load_defaults",
    "load_providers",
    "nothing_answers",
    "parse_live_ref",
    "read_limits",
    "read_time_outs",
    "reports_of",
    "resolve",
    "table_price",
    "variable",
]
