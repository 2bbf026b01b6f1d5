"""Run folders whose rates may stand side by side, and those rates."""

from __future__ import annotations

import shlex
from pathlib import Path

from harness import qualification
from harness.cli.conclusion import tell_left_out
from harness.errors import NothingSelectedError, UsageError
from harness.receipt import last_attempts, read_outline
from harness.schema.qualification import ActorFigures, Trial
from harness.schema.run import RunView

__all__ = ["JudgedTrials", "figures_of", "read_judged", "trials_by_actor"]

#: By the name of the run and the actor.
JudgedTrials = dict[tuple[str, str], list[Trial]]

#: So many in a row are told at most where nobody says how many.
_IN_A_ROW = 5


def read_judged(runs: tuple[Path, ...], *, by_version: bool = False) -> dict[str, RunView]:
    """Whole runs that may stand side by side, by the name they were called by. Raises InputError.

    ``by_version``: a run on several versions of a control plane is one run a version; else it is refused.
    """
    views: dict[str, RunView] = {}
    known: dict[str, str] = {}
    is_parted = False
    for folder in runs:
        view, name = read_outline(folder), str(folder)
        tell_left_out(view)
        if not view.receipts:
            raise NothingSelectedError(f"{name}: no episode of it is finished, so there is nothing to tell")
        if view.manifest.run_id in known:
            raise UsageError(f"{name} is the same run as {known[view.manifest.run_id]}; name it once")
        parts = qualification.by_version(name, view)
        if len(parts) > 1 and not by_version:
            raise UsageError(
                f"{name}: was played on several versions of a control plane, and actors are compared on one; "
                f"harness qualify {shlex.quote(name)} tells each"
            )
        for part, one in parts.items():
            qualification.refuse_mixed(part, one)
        known[view.manifest.run_id] = name
        views |= parts
        is_parted = is_parted or len(parts) > 1
    for alike in _by_planes(views) if is_parted else (views,):
        qualification.refuse_different(alike)
    return views


def _by_planes(views: dict[str, RunView]) -> tuple[dict[str, RunView], ...]:
    """Versions may be told beside each other, for none is added to another; what is of one must be alike."""
    groups: dict[tuple[str, ...], dict[str, RunView]] = {}
    for name, view in views.items():
        groups.setdefault(tuple(sorted(plane.ref for plane in view.manifest.planes)), {})[name] = view
    return tuple(groups.values())


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
