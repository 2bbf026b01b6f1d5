"""Run folders whose rates may stand side by side, and those rates."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from harness import qualification
from harness.cli.conclusion import tell_left_out
from harness.errors import NothingSelectedError, UsageError
from harness.receipt import last_attempts, read_outline
from harness.schema.qualification import ActorFigures, Trial
from harness.schema.run import RunView

__all__ = ["JudgedTrials", "beside", "figures_of", "read_judged", "read_whole", "trials_by_actor"]

#: By the name of the run and the actor.
JudgedTrials = dict[tuple[str, str], list[Trial]]

#: So many in a row are told at most where nobody says how many.
_IN_A_ROW = 5


def read_judged(runs: tuple[Path, ...], *, by_version: bool = False) -> dict[str, RunView]:
    """Whole runs that may stand side by side, by the name they were called by. Raises InputError.

    ``by_version``: a run on several versions of a control plane is one run a version; else it is refused.
    """
    whole = read_whole(runs)
    for name, view in whole.items():
        if not by_version and len(qualification.by_version(name, view)) > 1:
            raise UsageError(
                f"{name}: was played on several versions of a control plane, and actors are compared on one; "
                f"harness qualify {shlex.quote(name)} tells each"
            )
    return beside(whole)


def read_whole(runs: tuple[Path, ...]) -> dict[str, RunView]:
    """Runs by the name they were called by, whether they may stand side by side or not. Raises InputError."""
    whole: dict[str, RunView] = {}
    known: dict[str, str] = {}
    for folder in runs:
        view, name = read_outline(folder), str(folder)
        tell_left_out(view)
        if not view.receipts:
            raise NothingSelectedError(f"{name}: no episode of it is finished, so there is nothing to tell")
        if view.manifest.run_id in known:
            raise UsageError(f"{name} is the same run as {known[view.manifest.run_id]}; name it once")
        known[view.manifest.run_id] = name
        whole[name] = view
    return whole


def beside(whole: Mapping[str, RunView]) -> dict[str, RunView]:
    """Runs by the names to call them by, each as one run a version of a control plane.

    Raises UsageError where they are not alike.
    """
    views: dict[str, RunView] = {}
    for name, view in whole.items():
        parts = qualification.by_version(name, view)
        for part, one in parts.items():
            qualification.refuse_mixed(part, one)
        views |= parts
    for alike in _by_planes(views) if len(views) > len(whole) else (views,):
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
