"""How the actors of a run did in the runs before it, as far as the index of runs knows."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.errors import HarnessError
from harness.qualification.trends import trends
from harness.schema.run import RunView
from harness.wiring.indexing import index, indexed

__all__ = ["with_trends"]

#: Runs that a trend goes back, the run itself among them.
RUNS: Final = 30


def with_trends(reports: Path, folder: Path, view: RunView) -> RunView:
    """The run with trends of its actors; as it is where it does not lie below ``reports``, or none is known before it.

    Only runs that began before it count, so what is told of a run does not change with later ones.
    """
    folder, reports = folder.resolve(), reports.resolve()
    if reports not in folder.parents:
        return view
    try:
        own = indexed(folder, reports, view)
        # an index that cannot be used says so where the run is put into it
        earlier = [run for run in index(reports).runs() if run.created_at < own.created_at and run.folder != own.folder]
    except HarnessError:
        return view
    found = trends([own, *[run for run in earlier if run.is_whole][: RUNS - 1]])
    told = tuple(one for one in found if len(one.points) > 1 and one.points[-1].run == own.folder)
    return view.model_copy(update={"trends": told})
