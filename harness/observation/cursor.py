"""Where a reader goes on in a kept text: bound to its path and its content."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Literal

from harness.schema.base import Digest

__all__ = ["CursorFault", "issue", "resolve"]

#: Why a cursor leads nowhere: the text is not what it was, it is for another text, it points outside.
CursorFault = Literal["stale_cursor", "cursor_path_mismatch", "cursor_offset_invalid"]

_CURSOR = re.compile(r"([0-9]{1,16})-([0-9a-f]{8})-([0-9a-f]{16})", re.ASCII)


def issue(path: str, content: Digest, offset: int) -> str:
    """A cursor for an offset of the text at ``path`` as long as its digest is ``content``."""
    return f"{offset}-{_short(path)}-{content.removeprefix('sha256:')[:16]}"


def resolve(cursor: str, path: str, content: Digest | None, length: int) -> int | CursorFault:
    """The offset that a cursor means, or why it means none.

    ``content`` is the digest of what is at ``path`` now (None: nothing), ``length`` how many characters it counts.
    """
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        return "cursor_offset_invalid"
    if match[2] != _short(path):
        return "cursor_path_mismatch"
    if content is None or match[3] != content.removeprefix("sha256:")[:16]:
        return "stale_cursor"
    offset = int(match[1])
    return offset if offset < length else "cursor_offset_invalid"


def _short(path: str) -> str:
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:8]
