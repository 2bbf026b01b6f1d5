"""The credentials that stand in a cassette itself: what must not be found in anything that is made of it."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from harness.recording.cassette import Captured

__all__ = ["credentials_in"]

#: Names of headers, and of parts of a query, whose values open something.
_NAMES: Final = re.compile(
    r"(?:^|[-_.])(?:api[-_]?key|key|authori[sz]ation|auth|secret|(?:access|id|refresh|auth|security)[-_]?token|token"
    r"|password|sig|signature|cookie)$",
    re.IGNORECASE,
)
_SCHEME: Final = re.compile(r"(?:basic|bearer|token|digest|negotiate)\s+", re.IGNORECASE)


def credentials_in(exchanges: Iterable[Captured]) -> tuple[str, ...]:
    """Each once, in order: of headers, of queries, and of addresses (``user:password@``)."""
    found = (one for exchange in exchanges for one in _of(exchange))
    return tuple(dict.fromkeys(text for text in found if text))


def _of(exchange: Captured) -> Iterator[str]:
    for name, value in (*exchange.asked_headers.items(), *exchange.headers.items()):
        if not _NAMES.search(name):
            continue
        if name.endswith("cookie"):
            yield _cookie(value)
            continue
        yield from _said(value)
    for name, value in parse_qsl(exchange.query):
        if _NAMES.search(name):
            yield value
    try:
        yield urlsplit(exchange.url).password or ""
    except ValueError:
        return


def _said(value: str) -> Iterator[str]:
    """What follows the name of a scheme; of what is a name and a password, also the password."""
    scheme = _SCHEME.match(value)
    bare = value[scheme.end() :].strip() if scheme else value.strip()
    yield bare
    if scheme is not None and scheme[0].lower().startswith("basic"):
        try:
            yield b64decode(bare).decode("utf-8", "replace").partition(":")[2]
        except ValueError:
            return


def _cookie(value: str) -> str:
    """The value of the first cookie, without its attributes."""
    return value.partition(";")[0].partition("=")[2].strip()
