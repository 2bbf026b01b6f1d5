"""How often the interpreter looks for reference cycles while episodes are played."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["READ_OBJECTS", "rare_collections"]

#: New objects between two looks for cycles: an episode makes thousands that are gone by reference counts alone.
OBJECTS = 10_000
#: The same while a run is read, and told: it is many objects that stay, and hardly any ring.
READ_OBJECTS = 100_000


@contextmanager
def rare_collections(objects: int = OBJECTS) -> Iterator[None]:
    """Within it what stands already is not looked at again and again, and new ones every so many ``objects``.

    As before after it. One within another spares what came to stand in the first.

    It is the interpreter's setting, so for all threads. Where the process has looked less often, or not at all, that
    stays.
    """
    young, *older = before = gc.get_threshold()
    frozen = gc.get_freeze_count()
    gc.freeze()
    if 0 < young < objects:
        gc.set_threshold(objects, *older)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if not frozen:  # else somebody else froze, and thaws
            gc.unfreeze()
