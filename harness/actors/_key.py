"""An API key in memory: never printed, never pickled."""

from __future__ import annotations

import re
from typing import Never

from harness.errors import UsageError

__all__ = ["SecretKey"]

_SENDABLE = re.compile(r"[!-~]+")


class SecretKey:
    """Holds a key; text, formatting and representation are ``***``, and it cannot be pickled or copied.

    White space around it (a line break from a file) is dropped. ``variable`` is where it came from, for the error.

    Raises:
        UsageError: a key that no HTTP header can carry: empty, inner white space, or not ASCII.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str, variable: str) -> None:
        key = text.strip()
        if not _SENDABLE.fullmatch(key):
            raise UsageError(f"the environment variable {variable} holds no usable API key: printable ASCII, no spaces")
        self._text = key

    def reveal(self) -> str:
        """The key itself; only for the header that carries it."""
        return self._text

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return "***"

    def __reduce__(self) -> Never:
        raise TypeError("a key is never pickled")
