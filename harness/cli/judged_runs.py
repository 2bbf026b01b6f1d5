"""Run folders whose rates may stand side by side, and those rates."""

from __future__ import annotations

from pathlib import Path

from harness import qualification
from harness.cli.conclusion import tell_left_out
from harness.errors import NothingSelectedError, UsageError
from harness.receipt import last_attempts, read_run
from harness.schema.qualification import ActorFigures, Trial
from harness.schema.run import RunView

__all__ = ["JudgedTrials", "figures_of", "read_judged", "trials_by_actor"]

#: By the name of the run and the actor.
JudgedTrials = dict[tuple[str, str], list[Trial]]

#: So many in a row are told at most where nobody says how many.
_IN_A_ROW = 5


def read_judged(runs: tuple[Path, ...]) -> dict[str, RunView]:
    """Whole runs that may stand side by side, by the name they were called by. Raises InputError."""
    views: dict[str, RunView] = {}
    known: dict[str, str] = {}
    for folder in runs:
        view, name = read_run(folder), str(folder)
        tell_left_out(view)
        if not view.receipts:
            raise NothingSelectedError(f"{name}: no episode of it is finished, so there is nothing to tell")
        if view.manifest.run_id in known:
            raise UsageError(f"{name} is the same run as {known[view.manifest.run_id]}; name it once")
        qualification.refuse_mixed(name, view)
        known[view.manifest.run_id], views[name] = name, view
    qualification.refuse_different(views)
    return views


def trials_by_actor(views: dict[str, RunView]) -> JudgedTrials:
    """All places of all plans, and what came of them."""
    return {
        (name, actor): some
        for name, view in views.items()
        for actor, some in qualification.trials_of(view, last_attempts(view.receipts)).items()
    }


def figures_of(views: dict[str, RunView], trials: JudgedTrials, most: int | None = None) -> tuple[ActorFigures, ...]:
    """What each actor of each run comes to; in a row for up to ``most`` trials, else as many as all scenarios have."""
    fewest = [count for count in map(qualification.fewest_judged, trials.values()) if count]
    in_a_row = most or min(_IN_A_ROW, min(fewest, default=1))
    kinds = {(name, actor.ref): actor.kind for name, view in views.items() for actor in view.manifest.actors}
    return tuple(
        qualification.actor_figures(name, actor, kinds[name, actor], some, most=in_a_row)
        for (name, actor), some in trials.items()
    )
