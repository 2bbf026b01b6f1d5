"""Which runs an index would rather forget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from harness.schema.history import IndexedRun

__all__ = ["outdated"]


def outdated(
    runs: Sequence[IndexedRun],
    *,
    keep: int | None = None,
    before: datetime | None = None,
    pinned: Collection[str] = (),
) -> tuple[IndexedRun, ...]:
    """The complete runs beyond the newest ``keep``, or made before ``before`` (with zone), oldest first.

    Where both are given a run must be both. Runs that did not end are never among them, nor those whose folder or run
    id is ``pinned``; neither counts as one of the newest.
    """
    complete = [one for one in runs if one.state == "complete" and not {one.folder, one.run_id} & set(pinned)]
    complete.sort(key=lambda one: (one.created_at, one.folder))
    beyond = complete if keep is None else complete[: max(len(complete) - keep, 0)]
    if keep is None and before is None:
        return ()
    return tuple(one for one in beyond if before is None or datetime.fromisoformat(one.created_at) < before)
