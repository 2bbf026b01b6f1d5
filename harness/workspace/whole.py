"""Reading and writing by descriptor, all of it: a system call may take, or give, only a part."""

from __future__ import annotations

import os

__all__ = ["read_whole", "write_whole"]


def read_whole(descriptor: int, size: int, most: int) -> bytes:
    """What is left to read, at most ``most`` + 1 bytes; ``size`` is how much there seems to be. Raises OSError."""
    pieces = [os.read(descriptor, min(size, most) + 1)]
    have = len(pieces[0])
    while pieces[-1] and have <= most:
        pieces.append(os.read(descriptor, most + 1 - have))
        have += len(pieces[-1])
    return b"".join(pieces)


def write_whole(descriptor: int, data: bytes) -> None:
    """Write all of it. Raises OSError, also where a full disc took a part."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
