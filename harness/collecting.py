"""How often the interpreter looks for reference cycles while episodes are played."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["rare_collections"]

#: New objects between two looks for cycles: an episode makes thousands that are gone by reference counts alone.
OBJECTS = 10_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Within it what stands already is not looked at again and again, and new objects less often; as before after it.

    It is the interpreter's setting, so for all threads. Where the process has looked less often, or not at all, that
    stays.
    """
    young, *older = before = gc.get_threshold()
    frozen = gc.get_freeze_count()
    gc.freeze()
    if 0 < young < OBJECTS:
        gc.set_threshold(OBJECTS, *older)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not frozen:  # else somebody else froze, and thaws
            gc.unfreeze()
