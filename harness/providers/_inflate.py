"""Compressed bodies, decompressed up to a bound."""

from __future__ import annotations

import zlib
from collections.abc import Callable

__all__ = ["BodyTooLargeError", "UnreadableBodyError", "reader_for"]

_NOT_READ = frozenset({"br", "compress", "dcb", "dcz", "zstd"})
_GZIP = 16 + zlib.MAX_WBITS


class BodyTooLargeError(Exception):
    """A body is larger than it may be."""


class UnreadableBodyError(Exception):
    """A body is not compressed as its header says, or in a way that we do not read.

    Its text is the name of that way where it is a known one, else empty: what a server calls it is not told.
    """


def reader_for(encoding: str, bound: int) -> Callable[[bytes], bytes]:
    """A function that takes a body piece by piece and gives what it decompresses to.

    Not more than ``bound`` bytes are ever made, whatever the ratio of compression is.

    Raises:
        UnreadableBodyError: at once for another encoding than identity, gzip and deflate; from the function for
            bytes that do not fit.
        BodyTooLargeError: from the function, where the whole body would exceed the bound.
    """
    name = encoding.strip().lower()
    left = bound

    def count(piece: bytes) -> bytes:
        nonlocal left
        left -= len(piece)
        if left < 0:
            raise BodyTooLargeError
        return piece

    if name in {"", "identity"}:
        return count
    if name not in {"gzip", "x-gzip", "deflate"}:
        raise UnreadableBodyError(name if name in _NOT_READ else "")
    inflater = zlib.decompressobj(zlib.MAX_WBITS if name == "deflate" else _GZIP)

    def inflate(piece: bytes) -> bytes:
        try:
            return count(inflater.decompress(piece, left + 1))
        except zlib.error:
            raise UnreadableBodyError("") from None

    return inflate
