"""The heads of requests and answers as bytes: what plain requests say, and the lines that an answer begins with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Final, NamedTuple

__all__ = ["Head", "answer_head", "first_fields", "plain_head"]

#: A whole head of the form that clients send: nothing in it can be read in two ways (RFC 9112, sections 3 and 5), and
#: there are no more lines than ``http.client`` reads, the empty one included.
_PLAIN: Final = re.compile(
    rb"(GET|POST) (/(?!/)[!-~]*|/) HTTP/1\.1\r\n((?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n){0,99})\r\n"
)
_FIELD: Final = re.compile(r"([^:]+):[\t ]*([^\r]*)\r\n")
_PHRASES: Final = {int(status): status.phrase for status in HTTPStatus}


class Head(NamedTuple):
    """What a request line and the header fields of a request say, the first of each name; names in lower case.

    ``size`` is the length of the whole head in bytes, the empty line included.
    """

    method: str
    target: str
    fields: Mapping[str, str]
    size: int

    @property
    def is_last(self) -> bool:
        """Whether the connection ends with this request."""
        return self.fields.get("connection", "").lower() == "close"


def plain_head(data: bytes) -> Head | None:
    """The head that some bytes begin with.

    None where it is not there as a whole, where it has another form than GET and POST of HTTP/1.1 mostly have, and
    where it expects something before its body: ``http.server`` knows what to do with such.
    """
    found = _PLAIN.match(data)
    if found is None:
        return None
    method, target, lines = found.groups()
    fields = first_fields(_FIELD.findall(lines.decode("latin-1")))
    if "expect" in fields:
        return None
    return Head(method.decode("ascii"), target.decode("ascii"), fields, found.end())


def first_fields(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The first value of each name, names in lower case."""
    return {name.lower(): value for name, value in reversed([*fields])}


def answer_head(status: int, server: str, moment: datetime, fields: Mapping[str, str]) -> bytes:
    """Status line and header fields of an answer, the empty line included; ``moment`` is when it is sent."""
    begun = f"{_status_line(status)}Server: {server}\r\nDate: {_date(int(moment.timestamp()))}\r\n"
    told = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
    return f"{begun}{told}\r\n".encode("latin-1")


@lru_cache
def _status_line(status: int) -> str:
    """A status that the standard does not know has no phrase."""
    return f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n"


@lru_cache(1)
def _date(second: int) -> str:
    """The form of RFC 9110, section 5.6.7, of seconds since 1970."""
    return format_datetime(datetime.fromtimestamp(second, UTC), usegmt=True)
