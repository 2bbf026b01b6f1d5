"""The tables of ``harness.toml``, read so that no error line can show a value of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from harness.documents import DocumentError, decoded, parse_toml, read_file
from harness.errors import ConfigError
from harness.schema.base import JsonValue

__all__ = ["NAME", "tables", "word"]

#: What a table below another one may be called.
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")

#: Letters and single underscores: what a setting looks like, and no key of a provider.
_WORD: Final = re.compile(r"(?=.{1,40}\Z)[a-z]+(?:_[a-z]+)*")


def word(given: object, otherwise: str) -> str:
    """A name that somebody wrote, quoted where it can be no secret; else ``otherwise``."""
    return repr(given) if isinstance(given, str) and _WORD.fullmatch(given) else otherwise


def tables(path: Path, above: str) -> dict[str, JsonValue]:
    """What stands below the table ``above`` by name, in file order; nothing where the file does not exist.

    Raises:
        ConfigError: names file and place; a value is never shown.
    """
    try:
        found = parse_toml(decoded(read_file(path))).get(above, {})
    except DocumentError as error:
        if error.missing:
            return {}
        # Where, but not what: the words of the TOML reader can quote the line.
        problem = "is no TOML" if error.problem.startswith("is no TOML") else error.problem
        place = str(path) if error.line is None else f"{path}:{error.line}"
        at = f"{_shown_place(error.path)}: " if error.path else ""
        allowed = f"; allowed: {error.allowed}" if error.allowed else ""
        raise ConfigError(f"{place}: {at}{problem}{allowed}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: {above}: must be tables; allowed: [{above}.NAME]")
    return found


def _shown_place(path: tuple[str | int, ...]) -> str:
    """A place in the file; keys that are no plain words may hold what must not be shown."""
    return ".".join(part if isinstance(part, str) and NAME.fullmatch(part) else "…" for part in path)
