"""Defaults of commands' options, as the file that sets harness gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from harness.config.commands import COMMANDS, REPORTS, Kind
from harness.config.tables import below, heading, refuse_secret, told, within, word
from harness.documents import decoded, read_file
from harness.documents.locating import line_of, lines
from harness.errors import ConfigError
from harness.schema.base import JsonValue

__all__ = ["NEVER", "Default", "OptionValue", "load_defaults", "reports_of"]

OptionValue = bool | int | float | str | tuple[str, ...]

_ALLOWED: Final[Mapping[Kind, str]] = {
    "whole number": "a whole number",
    "number": "a number",
    "text": "a text in quotation marks",
    "texts": "a text in quotation marks, or a list of them",
    "true or false": "true, false",
}
#: What people look for in a file or a variable, and why it is not there.
NEVER: Final = dict.fromkeys(
    ("max_cost", "yes_spend"), "what may be spent is your word, given on the command line each time"
)
_ADVICE: Final = "keys stand in environment variables only"


@dataclass(frozen=True, slots=True)
class Default:
    """What a file says of an option, and where: ``place`` is ``FILE:LINE`` with the whole path of the file.

    ``name`` is how the file calls the option: ``[run] jobs``.
    """

    value: OptionValue
    place: str
    name: str


def load_defaults(path: Path) -> dict[str, dict[str, Default]]:
    """Of each command that the file tells of, its options as ``COMMANDS`` calls them; nothing without a file.

    The kinds of all values are looked at, but not what each option allows. Of actors and providers only the names of
    their tables are.

    Raises:
        ConfigError: names file, line, table, key and what is allowed; a value is never shown.
    """
    whole = told(path)
    if not whole:
        return {}
    where = lines(decoded(read_file(path)))
    found: dict[str, dict[str, Default]] = {}
    for command in COMMANDS:
        table = heading(path, command)
        for key, value in below(path, whole, command).items():
            at = f"{path}:{line_of(where, (*within(path), command, key))}"
            said = _value(f"{at}: {table}", command, key, value)
            found.setdefault(command, {})[key] = Default(said, at, f"{table} {key}")
    return found


def reports_of(path: Path) -> Default | None:
    """The folder that runs are written below, where the file says one. Raises ConfigError."""
    value = told(path).get(REPORTS)
    if value is None:
        return None
    place = f"{path}:{line_of(lines(decoded(read_file(path))), (*within(path), REPORTS))}"
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigError(f"{place}: {REPORTS}: not such a value; allowed: the name of a folder")
    refuse_secret(place, REPORTS, value, advice=_ADVICE, known=True)
    return Default(value, place, REPORTS)


def _value(place: str, command: str, key: str, value: JsonValue) -> OptionValue:
    known = COMMANDS[command]
    if key in NEVER:
        raise ConfigError(f"{place}: {key}: {NEVER[key]}")
    refuse_secret(place, key, value, advice=_ADVICE, known=key in known)
    if key not in known:
        near = get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigError(f"{place}: {word(key, 'a key')}: unknown; {hint}allowed: {', '.join(known)}")
    found = _of_kind(known[key], value)
    if found is None:
        raise ConfigError(f"{place}: {key}: not such a value; allowed: {_ALLOWED[known[key]]}")
    return found


def _of_kind(kind: Kind, value: JsonValue) -> OptionValue | None:
    """The value of an option; None where it is of another kind."""
    if isinstance(value, bool):
        return value if kind == "true or false" else None
    if isinstance(value, int):
        return value if kind in {"whole number", "number"} else None
    if isinstance(value, float):
        return value if kind == "number" else None
    if isinstance(value, str):
        return value if kind == "text" else (value,) if kind == "texts" else None
    if isinstance(value, list) and kind == "texts":
        texts = tuple(item for item in value if isinstance(item, str))
        return texts if texts and len(texts) == len(value) else None
    return None
