"""What a value of another program should not hold where a model reads it: paths of a machine, and credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from harness.schema.base import JsonValue

__all__ = ["CREDENTIAL", "LOCAL_PATH", "credentials", "local_paths", "without_credentials", "without_local_paths"]

#: Stands for a path of a machine.
LOCAL_PATH: Final = "<local path>"
#: Stands for what looks like a credential.
CREDENTIAL: Final = "(looks like a credential)"

#: Folders at the top of a machine, in which somebody's files are. A word with a slash before it (``/goal``) is none.
_TOPS: Final = "Users|Volumes|home|root|tmp|private|var|opt|etc|mnt|media|srv|usr|run|proc|work|workspace|data"
_PATH: Final = re.compile(
    rf"""(?<![\w.}}/~-])(?:file://)?/(?:{_TOPS})(?:/[^\s"'`<>|;,:()\[\]{{}}]*|(?![\w-]))"""
    r"""|(?<![\w])[A-Za-z]:[\\/][^\s"'`<>|;,]*"""
    r"""|\\\\[\w.-]+\\[^\s"'`<>|;,]+"""
)
#: Names of fields that hold credentials. A token that resets a counter, or a key that finds a row, is none.
_FIELD: Final = re.compile(
    r"(?:^|[_-])(?:(?:api|access|secret|private|signing|encryption)[_-]?keys?|secrets?|passwords?|passwd|passphrase|"
    r"credentials?|authori[sz]ation|cookies?|(?:access|refresh|id|auth|bearer|session|api|client)[_-]?tokens?)$|^tokens?$",
    re.IGNORECASE,
)
#: Texts that are credentials by their form alone.
_FORMS: Final = (
    r"""\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}"""
    r"""|\bsk-[A-Za-z0-9_-]{16,}|\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bAIza[0-9A-Za-z_-]{30,}|\bglpat-[A-Za-z0-9_-]{16,}"""
    r"""|-----BEGIN [A-Z ]*PRIVATE KEY|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}|://[^\s/?#@:"'<>]+:[^\s/?#@"'<>]+@"""
    r"""|(?i:\bbearer\s+[A-Za-z0-9._~+/=-]{12,})"""
)
_FORM: Final = re.compile(_FORMS)
_VALUE: Final = re.compile(
    _FORMS
    + r"""|(?i:\b(?:(?:api|access|secret)[_-]?key|secret|password|passwd|token)\s*[=:]\s*["']?[A-Za-z0-9_+/.-]{8,})"""
)


def without_local_paths(value: JsonValue) -> JsonValue:
    """The value with ``LOCAL_PATH`` in place of each path of a machine, in keys too."""
    if isinstance(value, str):
        return _PATH.sub(LOCAL_PATH, value)
    if isinstance(value, list):
        return [without_local_paths(item) for item in value]
    if isinstance(value, dict):
        return {_PATH.sub(LOCAL_PATH, key): without_local_paths(item) for key, item in value.items()}
    return value


def local_paths(value: JsonValue) -> Iterator[str]:
    """Pointers to the texts that hold a path of a machine."""
    return (at for at, _, item in _leaves(value, "") if isinstance(item, str) and _PATH.search(item))


def credentials(value: JsonValue) -> Iterator[str]:
    """Pointers to what looks like a credential: a field that is called like one and holds something, or a text."""
    for at, name, item in _leaves(value, ""):
        if (_FIELD.search(name) and item and not isinstance(item, int | float)) or (
            isinstance(item, str) and _VALUE.search(item)
        ):
            yield at


def without_credentials(text: str) -> str:
    """The text with ``CREDENTIAL`` in place of what is one by its form; what only is called like one stays."""
    return _FORM.sub(CREDENTIAL, text)


def _leaves(value: JsonValue, at: str, name: str = "") -> Iterator[tuple[str, str, JsonValue]]:
    """Every value with its pointer and the name of its field, tables before what they hold."""
    yield at, name, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{at}/{key.replace('~', '~0').replace('/', '~1')}", key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{at}/{index}")
