"""``quarantine.toml``: scenarios that are played and shown, and not held against a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Final

from harness.documents import DocumentError, decoded, parse_toml, read_file
from harness.errors import ConfigError
from harness.schema.base import JsonValue
from harness.schema.quarantine import QuarantineEntry

__all__ = ["QUARANTINE", "load_quarantine"]

#: Beside ``harness.toml``.
QUARANTINE: Final = "quarantine.toml"
_TABLE: Final = "quarantine"
_NEEDED: Final = ("scenario", "owner", "reason", "expires")
_KEYS: Final = ("scenario", "actor", "owner", "reason", "expires")
_NO_DAY: Final = 'expires: is not a day alone; allowed: a date like "2026-12-31"'
_LONGEST: Final = 300
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
#: A date as TOML has it without quotation marks, which is what people write; a text is what is read.
_BARE_DATE: Final = re.compile(r"^([ \t]*expires[ \t]*=[ \t]*)(\d{4}-\d{2}-\d{2})(?=[ \t]*(?:#.*)?\r?$)", re.MULTILINE)


def load_quarantine(path: Path) -> tuple[QuarantineEntry, ...]:
    """The entries of the file in its order; none where it does not exist.

    Raises:
        ConfigError: one line that names file, entry and key, and what is allowed.
    """
    try:
        told = parse_toml(_BARE_DATE.sub(r'\1"\2"', decoded(read_file(path))))
    except DocumentError as error:
        if error.missing:
            return ()
        if len(error.path) > 1 and isinstance(error.path[1], int) and error.path[-1] == "expires":
            raise ConfigError(f"{path}: entry {error.path[1] + 1}: {_NO_DAY}") from None
        place = str(path) if error.line is None else f"{path}:{error.line}"
        at = "".join(f"{part}: " for part in map(_shown, error.path))
        allowed = f"; allowed: {error.allowed}" if error.allowed else ""
        raise ConfigError(f"{place}: {at}{error.problem}{allowed}") from None
    for name in told:
        if name != _TABLE:
            raise ConfigError(f"{path}: {_shown(name)}: unknown; allowed: [[{_TABLE}]]")
    rows = told.get(_TABLE, [])
    if not isinstance(rows, list):
        raise ConfigError(f"{path}: {_TABLE}: must be a list of tables; allowed: [[{_TABLE}]]")
    return tuple(_entry(f"{path}: entry {number}", row) for number, row in enumerate(rows, start=1))


def _entry(place: str, row: JsonValue) -> QuarantineEntry:
    if not isinstance(row, dict):
        raise ConfigError(f"{place}: must be a table; allowed: [[{_TABLE}]]")
    for key in row:
        if key not in _KEYS:
            raise ConfigError(f"{place}: {_shown(key)}: unknown; allowed: {', '.join(_KEYS)}")
    for key in _NEEDED:
        if key not in row:
            raise ConfigError(f"{place}: {key}: is not there; needed: {', '.join(_NEEDED)}")
    _refuse_no_day(place, row["expires"])
    return QuarantineEntry.model_validate({key: _text(place, key, row) for key in row})


def _text(place: str, key: str, row: Mapping[str, JsonValue]) -> str:
    value = row[key]
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST or not value.isprintable():
        raise ConfigError(f"{place}: {key}: not such a value; allowed: one line of 1 to {_LONGEST} letters")
    return value.strip()


def _refuse_no_day(place: str, value: JsonValue) -> None:
    text = value.strip() if isinstance(value, str) else ""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:
        raise ConfigError(f"{place}: {_NO_DAY}")


def _shown(name: str | int) -> str:
    return str(name) if isinstance(name, int) or _NAME.fullmatch(name) else "a name"
