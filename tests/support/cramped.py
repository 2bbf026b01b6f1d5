"""A machine with little room, for as long as a test asks for it."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["small_files"]


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """Inside, this process and its children may make files of at most ``most`` bytes: more is refused as EFBIG."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
