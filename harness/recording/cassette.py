"""What stands in a vcrpy cassette: each exchange as bytes, whatever way it was written.

Requests and answers are kept in several ways: as text, as bytes, as the value that JSON was parsed to, under the names
of older versions; and compressed as they were sent, or not.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from harness.documents import DocumentError, decoded, parse_json, read_file
from harness.documents.yaml_values import YamlValue, parse_yaml
from harness.recording.inflating import inflated

__all__ = ["SIZE_MAX", "Captured", "read_cassette"]

#: Largest cassette that is read, in bytes.
SIZE_MAX: Final = 48 * 1024 * 1024

_INTERACTIONS: Final = "interactions"
_STATUSES: Final = range(100, 1000)


@dataclass(frozen=True, slots=True)
class Captured:
    """One exchange; ``number`` is its place in the cassette, from 1. Names of headers are in lower case.

    ``unread`` says why a body, of request or answer, cannot be read, which is empty then; None where both can.
    """

    number: int
    method: str
    url: str = field(repr=False)
    asked_headers: Mapping[str, str] = field(repr=False)
    asked: bytes = field(repr=False)
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    unread: str | None = None

    @property
    def path(self) -> str:
        """The path of the URL, without its query, which may hold a key."""
        return _split(self.url)[0]

    @property
    def query(self) -> str:
        """The query of the URL, as it was written."""
        return _split(self.url)[1]


def read_cassette(path: Path) -> tuple[Captured, ...]:
    """The exchanges of a cassette, YAML or JSON, in their order.

    Raises DocumentError for a file that cannot be read, is larger than ``SIZE_MAX`` or is no cassette.
    """
    text = decoded(read_file(path, most=SIZE_MAX)).removeprefix("\ufeff")
    is_json = text.lstrip()[:1] in {"{", "["}
    whole: YamlValue = _plain(parse_json(text)) if is_json else parse_yaml(text)
    if isinstance(whole, list) and whole and isinstance(whole[0], dict) and "request" in whole[0]:
        raise DocumentError("is a cassette of vcrpy before 1.0, which is not read; record it anew")
    found = whole.get(_INTERACTIONS) if isinstance(whole, dict) else None
    if not isinstance(found, list):
        raise DocumentError("is no vcrpy cassette: it holds no list of interactions")
    return tuple(_captured(one, number) for number, one in enumerate(found, start=1))


def _plain(value: object) -> YamlValue:
    """A JSON value as one of the wider kind."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, bool | int | float | str) else None


def _captured(interaction: YamlValue, number: int) -> Captured:
    place = f"interaction {number}"
    request, response = (_object(interaction, name, place) for name in ("request", "response"))
    method, url = _text(request, "method", place), _text(request, "uri", place)
    asked_headers = _headers(request)
    asked, problem = inflated(_bytes(request, place), asked_headers.get("content-encoding", ""))
    headers = _headers(response)
    body, unread = inflated(_bytes(response, place), headers.get("content-encoding", ""))
    whose = "its body" if problem is None else "the body of its request"
    unread = problem or unread
    return Captured(
        number=number,
        method=method.upper(),
        url=url,
        asked_headers=asked_headers,
        asked=asked or b"",
        status=_status(response, place),
        headers=headers,
        body=body or b"",
        unread=None if unread is None else f"{whose} {unread}",
    )


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:  # an address that is none
        return url.partition("?")[0], ""
    return parts.path, parts.query


def _object(value: YamlValue, name: str, place: str) -> dict[str, YamlValue]:
    found = value.get(name) if isinstance(value, dict) else None
    if not isinstance(found, dict):
        raise DocumentError(f"is no vcrpy cassette: {place} holds no {name}")
    return found


def _text(value: Mapping[str, YamlValue], name: str, place: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise DocumentError(f"is no vcrpy cassette: the {name} of {place} is no text")
    return found


def _status(response: Mapping[str, YamlValue], place: str) -> int:
    """``status: {code: 200}``, or ``status_code: 200``."""
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else response.get("status_code", status)
    if isinstance(code, bool) or not isinstance(code, int) or code not in _STATUSES:
        raise DocumentError(f"is no vcrpy cassette: the status of {place} is no HTTP status")
    return code


def _headers(value: Mapping[str, YamlValue]) -> dict[str, str]:
    """A header that was sent several times has its first value, as it has for the client that plays a cassette."""
    found = value.get("headers")
    kept: dict[str, str] = {}
    for name, given in found.items() if isinstance(found, dict) else ():
        first = next(iter(given), None) if isinstance(given, list) else given
        text = first.decode("latin-1") if isinstance(first, bytes) else "" if first is None else str(first)
        kept.setdefault(name.lower(), text)
    return kept


def _bytes(side: Mapping[str, YamlValue], place: str) -> bytes:
    """The body of a request or an answer."""
    if side.get("parsed_body") is not None:
        return _written(side["parsed_body"], place)
    body = side.get("body", side.get("content"))
    if isinstance(body, dict):
        if isinstance(body.get("base64_string"), str):
            return _unpacked(str(body["base64_string"]), place)
        body = body.get("string")
    pieces = body if isinstance(body, list) else [body]
    return b"".join(_piece(one, place) for one in pieces)


def _piece(value: YamlValue, place: str) -> bytes:
    if value is None:
        return b""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    raise DocumentError(f"is no vcrpy cassette: a body of {place} is neither text nor bytes")


def _written(value: YamlValue, place: str) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    except TypeError:
        raise DocumentError(f"is no vcrpy cassette: the parsed_body of {place} holds bytes") from None


def _unpacked(text: str, place: str) -> bytes:
    try:
        return b64decode(text, validate=False)
    except ValueError:
        raise DocumentError(f"is no vcrpy cassette: the base64_string of {place} is no base64") from None
