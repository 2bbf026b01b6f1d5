"""The file that tells how harness is set, read so that no error line can show a value of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from harness.config.commands import COMMANDS, REPORTS
from harness.documents import DocumentError, decoded, parse_toml, read_file
from harness.errors import ConfigError
from harness.schema.base import JsonValue

__all__ = ["NAME", "below", "document", "find", "heading", "refuse_secret", "tables", "told", "within", "word"]

_FILE: Final = "harness.toml"
#: Holds settings of many tools, each in a table of its own.
_PROJECT: Final = "pyproject.toml"
_WITHIN: Final = ("tool", "harness")
#: Tables with tables below them, by name.
_NAMED: Final = ("actors", "providers")
#: All that stands at the top.
_TOP: Final = (*_NAMED, *COMMANDS, REPORTS)
#: What surely is no secret that stands where a name should.
_SAYABLE: Final = re.compile(r"[a-z_-]{1,24}")
#: What a table below another one may be called.
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
#: Letters and single underscores: what a setting looks like, and no key of a provider.
_WORD: Final = re.compile(r"(?=.{1,40}\Z)[a-z]+(?:_[a-z]+)*")
#: Keys under which people put the secret itself.
_SECRET_KEY: Final = re.compile(
    r"(?:.*[_-])?(?:api_?key|key|token|secret|password|credentials?|authorization|bearer)", re.IGNORECASE
)
#: Values that are most likely an API key.
_SECRET_VALUE: Final = re.compile(r"(?:sk|pk|ark|gsk|xai|hf|key|Bearer)[-_ ][A-Za-z0-9_-]{12,}|AIza[A-Za-z0-9_-]{20,}")


def word(given: object, otherwise: str) -> str:
    """A name that somebody wrote, quoted where it can be no secret; else ``otherwise``."""
    return repr(given) if isinstance(given, str) and _WORD.fullmatch(given) else otherwise


def find(folder: Path) -> Path:
    """The file that counts in a folder: ``pyproject.toml`` where that has ``[tool.harness]``, else ``harness.toml``.

    It need not exist. Folders above are not looked at. Raises ConfigError where both say something.
    """
    own, shared = folder / _FILE, folder / _PROJECT
    if not document(shared):
        return own
    if own.exists():
        raise ConfigError(f"{own}: [tool.harness] of {_PROJECT} is there as well; keep one of them")
    return shared


def within(path: Path) -> tuple[str, ...]:
    """The keys that lead to what is ours in such a file."""
    return _WITHIN if path.name == _PROJECT else ()


def heading(path: Path, *names: str) -> str:
    """A table of such a file, as it is written there: ``[actors.NAME]``."""
    return f"[{'.'.join((*within(path), *names))}]"


def document(path: Path) -> dict[str, JsonValue]:
    """All that such a file says to us; nothing where it does not exist.

    Raises:
        ConfigError: names file and place; a value is never shown.
    """
    try:
        data = read_file(path)
        if within(path) and b"harness" not in data:
            return {}
        return parse_toml(decoded(data), within(path))
    except DocumentError as error:
        if error.missing:
            return {}
        # Where, but not what: the words of the TOML reader can quote the line.
        problem = "is no TOML" if error.problem.startswith("is no TOML") else error.problem
        place = str(path) if error.line is None else f"{path}:{error.line}"
        at = f"{_shown_place(error.path)}: " if error.path else ""
        allowed = f"; allowed: {error.allowed}" if error.allowed else ""
        raise ConfigError(f"{place}: {at}{problem}{allowed}") from None


def told(path: Path) -> dict[str, JsonValue]:
    """All that such a file says to us, where all of it is known by name. Raises ConfigError as ``document`` does."""
    found = document(path)
    _refuse_unknown(path, found)
    return found


def tables(path: Path, above: str) -> dict[str, JsonValue]:
    """What stands below the table ``above`` by name, in file order; nothing where the file does not exist.

    Raises:
        ConfigError: names file and place; a value is never shown.
    """
    return below(path, told(path), above)


def below(path: Path, whole: Mapping[str, JsonValue], above: str) -> dict[str, JsonValue]:
    """What stands below the table ``above`` of what ``told`` gave. Raises ConfigError where it is no table."""
    found = whole.get(above, {})
    if not isinstance(found, dict):
        must = f"tables; allowed: {heading(path, above, 'NAME')}" if above in _NAMED else "a table"
        raise ConfigError(f"{path}: {above}: must be {must}")
    return found


def refuse_secret(place: str, key: str, value: object, *, advice: str, known: bool) -> None:
    """Raise ConfigError for what looks like a key of a provider; ``known`` keys may be called anything."""
    if not known and _SECRET_KEY.fullmatch(key):
        raise ConfigError(f"{place}: an API key does not belong into a file; {advice}")
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and _SECRET_VALUE.search(text):
            raise ConfigError(f"{place}: a value looks like an API key, which does not belong into a file; {advice}")


def _refuse_unknown(path: Path, names: Iterable[str]) -> None:
    """Raise ConfigError for what stands in the file beside its tables: it would be passed over in silence."""
    wrong = next((name for name in names if name not in _TOP), None)
    if wrong is None:
        return
    near = get_close_matches(wrong, _TOP, n=1)
    shown = wrong if _SAYABLE.fullmatch(wrong) else "a name"
    hint = f"did you mean {_named(path, near[0])}? " if near else ""
    raise ConfigError(f"{path}: {shown}: unknown; {hint}allowed: {', '.join(_named(path, name) for name in _TOP)}")


def _named(path: Path, name: str) -> str:
    """What stands at the top, as it is written there."""
    return name if name == REPORTS else heading(path, *((name, "NAME") if name in _NAMED else (name,)))


def _shown_place(path: tuple[str | int, ...]) -> str:
    """A place in the file; keys that are no plain words may hold what must not be shown."""
    return ".".join(part if isinstance(part, str) and NAME.fullmatch(part) else "…" for part in path)
