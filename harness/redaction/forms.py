"""The forms a secret takes in files of the usual sorts."""

from __future__ import annotations

import html
import json
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

__all__ = ["base64_digits", "hexadecimal_digits", "texts", "utf8"]


def utf8(text: str) -> bytes:
    """UTF-8; a lone surrogate, which JSON can carry, as it is."""
    return text.encode("utf-8", "surrogatepass")


def texts(secret: str) -> Iterator[bytes]:
    """The secret as text files of several sorts would hold it."""
    plain = [secret, html.escape(secret), html.escape(secret).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")]
    for text in plain:
        for ascii_only in (True, False):
            once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
            twice = json.dumps(once, ensure_ascii=ascii_only)[1:-1]
            yield from (utf8(form) for form in (text, once, once.replace("/", "\\/"), twice))


def hexadecimal_digits(secret: str) -> Iterator[bytes]:
    """Encodings made of hexadecimal digits, whose case is free."""
    data = utf8(secret)
    yield data.hex().encode()
    yield "".join(f"%{byte:02x}" for byte in data).encode()
    yield from (form.encode() for form in (quote(data, safe=""), quote(data), quote_plus(data)))


def base64_digits(data: bytes) -> Iterator[bytes]:
    """What base64 makes of the data at each alignment, without the digits that neighbouring bytes take part in."""
    for shift in range(3):
        whole = b64encode(bytes(shift) + data)
        first = -(-shift * 8 // 6)
        last = (shift + len(data)) * 8 // 6
        inner = whole[first:last]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))
