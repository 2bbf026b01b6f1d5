"""``[providers.NAME]`` of ``harness.toml``: how much of a provider a run takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.config.presets import PRESETS
from harness.config.tables import heading, tables, word
from harness.errors import ConfigError, UsageError
from harness.schema.base import JsonValue

__all__ = ["CONCURRENCY_MAX", "ProviderConfig", "load_providers", "read_limits", "read_time_outs"]

#: Most episodes of a provider at once.
CONCURRENCY_MAX: Final = 256
_SAYABLE: Final = re.compile(r"[\w.-]{1,64}")
#: Longest time-outs, in seconds; the shortest is a hundredth.
_LONGEST_S: Final[Mapping[str, float]] = {"connect_s": 600.0, "read_s": 86_400.0}
_SHORTEST_S: Final = 0.01
_NUMBER: Final = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")
_KEYS: Final = ("concurrency", *_LONGEST_S)
_ALLOWED: Final = f"a whole number from 1 to {CONCURRENCY_MAX}"


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """``concurrency`` is how many episodes of a provider run at once; None: as many as the run plays at once.

    ``connect_s`` bounds the making of a connection, ``read_s`` the silence in an answer, both in seconds; None leaves
    the first at ``CONNECT_S``, the second to the deadline of the attempt, which bounds both.
    """

    concurrency: int | None = None
    connect_s: float | None = None
    read_s: float | None = None

    @property
    def told(self) -> str:
        """In one line for people; only what is set."""
        parts = (
            None if self.concurrency is None else f"{self.concurrency} at once",
            None if self.connect_s is None else f"connect time-out {self.connect_s:g} s",
            None if self.read_s is None else f"read time-out {self.read_s:g} s",
        )
        return ", ".join(part for part in parts if part) or "nothing is set"


def load_providers(path: Path) -> dict[str, ProviderConfig]:
    """The providers of a configuration file, by name, in file order; none where the file does not exist.

    Of the others only their names are looked at.

    Raises:
        ConfigError: names file, table, key and what is allowed; a value is never shown.
    """
    return {name: _provider(path, name, table) for name, table in tables(path, "providers").items()}


def read_limits(texts: Iterable[str]) -> dict[str, int]:
    """``NAME=N`` texts as episodes at once by provider; of a name given twice the last counts.

    Raises:
        UsageError: says what is allowed.
    """
    found: dict[str, int] = {}
    for text in texts:
        name, number = _named("--provider-limit", "N", text)
        if not re.fullmatch(r"[0-9]{1,3}", number) or not 1 <= int(number) <= CONCURRENCY_MAX:
            raise UsageError(f"--provider-limit {name}: this number cannot be used; allowed: {_ALLOWED}")
        found[name] = int(number)
    return found


def read_time_outs(connect: Iterable[str], read: Iterable[str]) -> dict[str, ProviderConfig]:
    """``NAME=S`` texts as time-outs in seconds by provider; of a name given twice the last counts.

    Raises:
        UsageError: says what is allowed.
    """
    found: dict[str, ProviderConfig] = {}
    for option, key, texts in (("--connect-timeout", "connect_s", connect), ("--read-timeout", "read_s", read)):
        for text in texts:
            name, number = _named(option, "S", text)
            if not _NUMBER.fullmatch(number) or not _SHORTEST_S <= float(number) <= _LONGEST_S[key]:
                allowed = f"seconds from {_SHORTEST_S} to {_LONGEST_S[key]:g}"
                raise UsageError(f"{option} {name}: this number cannot be used; allowed: {allowed}")
            before = found.get(name, ProviderConfig())
            found[name] = (
                replace(before, connect_s=float(number))
                if key == "connect_s"
                else replace(before, read_s=float(number))
            )
    return found


def _named(option: str, what: str, text: str) -> tuple[str, str]:
    """The provider that a text after an option names, and what it says of it."""
    name, equals, said = text.partition("=")
    if not equals:
        raise UsageError(f"{option} takes NAME={what}; names: {', '.join(_names())}")
    if name not in _names():
        shown = repr(name) if _SAYABLE.fullmatch(name) else "the name given"
        raise UsageError(f"{option}: {shown} is no provider; there are: {', '.join(_names())}")
    return name, said


def _names() -> tuple[str, ...]:
    return tuple(preset.name for preset in PRESETS)


def _provider(path: Path, name: str, table: JsonValue) -> ProviderConfig:
    if name not in _names():
        raise ConfigError(f"{path}: providers: {word(name, 'a name')} is not known; allowed: {', '.join(_names())}")
    place = f"{path}: {heading(path, 'providers', name)}"
    if not isinstance(table, dict):
        raise ConfigError(f"{place}: must be a table; allowed keys: {', '.join(_KEYS)}")
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        raise ConfigError(f"{place}: {word(unknown[0], 'a key')} is not known; allowed: {', '.join(_KEYS)}")
    number = table.get("concurrency")
    if number is not None and (
        isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= CONCURRENCY_MAX
    ):
        raise ConfigError(f"{place}: concurrency: not such a value; allowed: {_ALLOWED}")
    return ProviderConfig(number, *(_seconds(place, table, key) for key in _LONGEST_S))


def _seconds(place: str, table: Mapping[str, JsonValue], key: str) -> float | None:
    value, longest = table.get(key), _LONGEST_S[key]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not _SHORTEST_S <= value <= longest:
        raise ConfigError(f"{place}: {key}: not such a value; allowed: seconds from {_SHORTEST_S} to {longest:g}")
    return float(value)
