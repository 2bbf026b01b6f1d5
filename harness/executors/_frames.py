"""Frames between the owner of a fork server and the server. Standard library only: both sides load this file.

A frame is two big-endian 32-bit lengths, a JSON header and a body. Texts that stand for bytes of the system (arguments,
paths, environment) are those bytes read as Latin-1.
"""

from __future__ import annotations

import json
import os
import struct

Texts = list[str]
Header = dict[str, "str | int | float | bool | Texts | dict[str, str] | dict[str, Texts] | None"]

_LENGTHS = struct.Struct(">II")
#: Bytes of one frame; the largest true one holds two streams of 16 MiB and a note of 1 MiB.
LARGEST = 1 << 26


def frame(header: Header, body: bytes = b"") -> bytes:
    """The bytes of one frame."""
    text = json.dumps(header).encode("ascii")
    return _LENGTHS.pack(len(text), len(body)) + text + body


def split(buffer: bytearray) -> tuple[bytes, bytes] | None:
    """Take the first whole frame out of ``buffer``: header and body, or None where it is not all there yet.

    Raises ValueError where the lengths are those of no frame.
    """
    if len(buffer) < _LENGTHS.size:
        return None
    head, body = _LENGTHS.unpack_from(buffer)
    end = _LENGTHS.size + head + body
    if end > LARGEST:
        raise ValueError(end)
    if len(buffer) < end:
        return None
    taken = bytes(buffer[_LENGTHS.size : end])
    del buffer[:end]
    return taken[:head], taken[head:]


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything, however often that takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
