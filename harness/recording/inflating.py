"""Bodies as they were sent, without the compression that a cassette kept them in."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import Final

__all__ = ["BODY_MAX", "inflated"]

#: Largest body that is decompressed, in bytes.
BODY_MAX: Final = 16 * 1024 * 1024

_GZIP: Final = b"\x1f\x8b"


class _DamagedError(Exception):
    """A body that is not, or not wholly, compressed as it is said to be."""


def inflated(body: bytes, encoding: str) -> tuple[bytes | None, str | None]:
    """The body without its compression, which may have been undone already, or why it cannot be read: what it is.

    ``encoding`` is the value of its header. Of a body that decompresses to more than ``BODY_MAX`` no more is made.
    """
    name = encoding.strip().lower()
    if body.startswith(_GZIP):
        name = "gzip"
    elif name in {"", "identity"} or not body or _is_text(body):
        return body, None
    read = _READERS.get(name)
    if read is None:
        return None, f"is compressed ({name[:20]}), which is not read"
    try:
        whole = read(body)
    except ImportError:
        return None, f"is compressed ({name}); to read it type: pip install 'behavior-harness[cassettes]'"
    except _DamagedError:
        return None, f"is no whole {name}"
    if len(whole) > BODY_MAX:
        return None, f"is larger than {BODY_MAX} bytes"
    return whole, None


def _is_text(body: bytes) -> bool:
    try:
        return body.decode("utf-8").lstrip()[:1] in {"{", "[", "d", "e", ":"}  # JSON, or the lines of a stream
    except UnicodeDecodeError:
        return False


# Each gives one byte more than ``BODY_MAX`` at most, or a piece above it: enough to tell that there is more.


def _zlib(body: bytes) -> bytes:
    for bits in (zlib.MAX_WBITS + 32, -zlib.MAX_WBITS):  # with a header of either kind; deflate is sent without one too
        inflater = zlib.decompressobj(bits)
        try:
            whole = inflater.decompress(body, BODY_MAX + 1)
        except zlib.error:
            continue
        if inflater.eof or len(whole) > BODY_MAX:
            return whole
    raise _DamagedError


def _brotli(body: bytes) -> bytes:
    import brotli  # noqa: PLC0415  (an extra)

    inflater = brotli.Decompressor()
    try:
        pieces: list[bytes] = [inflater.process(body, output_buffer_limit=BODY_MAX + 1)]
        while pieces[-1] and sum(map(len, pieces)) <= BODY_MAX and not inflater.is_finished():
            pieces.append(inflater.process(b"", output_buffer_limit=BODY_MAX + 1))
    except brotli.error:
        raise _DamagedError from None
    whole = b"".join(pieces)
    if not inflater.is_finished() and len(whole) <= BODY_MAX:
        raise _DamagedError
    return whole


def _zstd(body: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415  (not in every build of Python)
    else:
        from backports import zstd  # noqa: PLC0415  (an extra)

    whole, rest = b"", body
    while rest:  # frames, one after the other
        inflater = zstd.ZstdDecompressor()
        try:
            whole += inflater.decompress(rest, max_length=BODY_MAX + 1 - len(whole))
        except zstd.ZstdError:
            raise _DamagedError from None
        if len(whole) > BODY_MAX:
            break
        if not inflater.eof:
            raise _DamagedError
        rest = inflater.unused_data
    return whole


_READERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": _zlib,
    "x-gzip": _zlib,
    "deflate": _zlib,
    "br": _brotli,
    "zstd": _zstd,
}
