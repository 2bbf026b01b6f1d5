"""``[actors.NAME]`` of ``harness.toml``: live models under names of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.config.actor_price import read_price
from harness.config.live_ref import problem_of_url
from harness.config.presets import PRESETS
from harness.config.settings import ALLOWED, read_settings
from harness.config.tables import NAME, heading, refuse_secret, tables
from harness.errors import ConfigError
from harness.schema.base import JsonValue
from harness.schema.message import GenerationSettings
from harness.schema.price import Price

__all__ = ["ActorConfig", "load_actors"]

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_MODEL = re.compile(r"[!-~]{1,200}")
_FIELDS: Final = ("provider", "model", "base_url", "key_env")
_PRICE: Final = "price"
_KEYS: Final = ", ".join((*_FIELDS, _PRICE, *ALLOWED))
_ADVICE: Final = 'put it into an environment variable and name that: key_env = "NAME"'


@dataclass(frozen=True, slots=True)
class ActorConfig:
    """A named live model. ``base_url`` and ``key_env`` are None where the provider's own count.

    ``price`` is what it costs, where the file says so.
    """

    provider: str
    model: str
    base_url: str | None = None
    key_env: str | None = None
    settings: GenerationSettings = field(default_factory=GenerationSettings)
    price: Price | None = None


def load_actors(path: Path) -> dict[str, ActorConfig]:
    """The actors of a configuration file, by name, in file order; none where the file does not exist.

    Of the others only their names are looked at.

    Raises:
        ConfigError: names file, table, key and what is allowed; a value is never shown.
    """
    return {name: _actor(path, name, table) for name, table in tables(path, "actors").items()}


def _actor(path: Path, name: str, table: object) -> ActorConfig:
    if not NAME.fullmatch(name):
        raise ConfigError(f"{path}: actors: a name is 1 to 64 of a-z, 0-9, - and _, and begins with a letter or digit")
    place = f"{path}: {heading(path, 'actors', name)}"
    if not isinstance(table, dict):
        raise ConfigError(f"{place}: must be a table; allowed keys: {_KEYS}")
    price = _price(place, table)
    given: dict[str, JsonValue] = {}
    for key, value in ((key, value) for key, value in table.items() if key != _PRICE):
        refuse_secret(place, key, value, advice=_ADVICE, known=key in _FIELDS or key in ALLOWED)
        if key not in _FIELDS and key not in ALLOWED:
            shown = key if re.fullmatch(r"[a-z0-9_-]{1,40}", key) else "a key"
            raise ConfigError(f"{place}: {shown}: unknown; allowed: {_KEYS}")
        if not isinstance(value, str | int | float):
            raise ConfigError(f"{place}: {key}: not such a value; allowed: {_allowed(key)}")
        given[key] = value
    texts = {key: _field(place, key, given.pop(key, None)) for key in _FIELDS}
    settings, wrong = read_settings(given)
    if wrong is not None:
        raise ConfigError(f"{place}: {wrong}: this value cannot be used; allowed: {ALLOWED[wrong]}")
    provider, model = texts["provider"], texts["model"]
    if provider is None or model is None:
        raise ConfigError(f"{place}: provider and model are both needed")
    base_url = texts["base_url"]
    return ActorConfig(provider, model, base_url.rstrip("/") if base_url else None, texts["key_env"], settings, price)


def _price(place: str, table: Mapping[str, object]) -> Price | None:
    if _PRICE not in table:
        return None
    price = read_price(table[_PRICE])
    if isinstance(price, str):
        raise ConfigError(f"{place.removesuffix(']')}.{_PRICE}]: {price}")
    return price


def _field(place: str, key: str, value: JsonValue) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ConfigError(f"{place}: {key}: must be a text; allowed: {_allowed(key)}")
    if key == "provider" and all(preset.name != value for preset in PRESETS):
        raise ConfigError(f"{place}: provider: unknown; allowed: {_allowed(key)}")
    if key == "model" and not _MODEL.fullmatch(value):
        raise ConfigError(f"{place}: model: this name cannot be used; allowed: {_allowed(key)}")
    if key == "key_env" and not _VARIABLE.fullmatch(value):
        raise ConfigError(f"{place}: key_env: no name of an environment variable; allowed: {_allowed(key)}")
    problem = problem_of_url(value) if key == "base_url" else None
    if problem is not None:
        raise ConfigError(f"{place}: base_url: the address {problem}")
    return value


def _allowed(key: str) -> str:
    words = {
        "provider": ", ".join(preset.name for preset in PRESETS),
        "model": "1 to 200 printable ASCII characters without spaces",
        "base_url": "http://… or https://…",
        "key_env": "letters, digits and _, like OPENAI_API_KEY",
    }
    return words.get(key) or ALLOWED[key]
