"""How rates, cost and time went from run to run, and where something else than chance may have moved them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from harness.qualification.intervals import wilson
from harness.qualification.past import Cell, Place, cell_of, whole_runs
from harness.schema.history import IndexedEpisode, IndexedRun
from harness.schema.trend import Moved, Trend, TrendPoint

__all__ = ["moved", "trends"]

#: Names of models that answered, and their fingerprints.
_Answered = tuple[tuple[str, ...], tuple[str, ...]]


def trends(runs: Sequence[IndexedRun], *, by_scenario: bool = False) -> tuple[Trend, ...]:
    """Of each actor over all of its scenarios, or in each of them; of whole runs only, in the order of first being met.

    An actor that one of the runs plays on several versions of a control plane has a trend for each version.
    """
    whole = list(whole_runs(runs))
    apart = {place for run in whole for place in _in_versions(run, by_scenario=by_scenario)}
    points: dict[Place, list[tuple[IndexedRun, Cell]]] = defaultdict(list)
    for run in whole:
        for place, cell in _cells(run, apart, by_scenario=by_scenario).items():
            points[place].append((run, cell))
    return tuple(
        Trend(scenario=place.scenario or None, actor=place.actor, plane=place.plane, points=tuple(_points(rows)))
        for place, rows in points.items()
    )


def _in_versions(run: IndexedRun, *, by_scenario: bool) -> Iterator[Place]:
    """Who played on several versions of one control plane, without the version."""
    refs: dict[tuple[Place, str], set[str]] = defaultdict(set)
    for one in run.episodes:
        refs[Place(one.scenario if by_scenario else "", one.actor), one.plane.name].add(one.plane.ref)
    yield from (place for (place, _), versions in refs.items() if len(versions) > 1)


def _cells(run: IndexedRun, apart: set[Place], *, by_scenario: bool) -> dict[Place, Cell]:
    found: dict[Place, list[IndexedEpisode]] = defaultdict(list)
    for one in run.episodes:
        place = Place(one.scenario if by_scenario else "", one.actor)
        found[Place(place.scenario, place.actor, one.plane.ref) if place in apart else place].append(one)
    return {place: cell_of(episodes) for place, episodes in found.items()}


def _points(rows: Sequence[tuple[IndexedRun, Cell]]) -> Iterator[TrendPoint]:
    before: Cell | None = None
    answered: _Answered = ((), ())
    for run, cell in rows:
        seconds = cell.seconds
        yield TrendPoint(
            run=run.folder,
            created_at=run.created_at,
            passes=cell.passes,
            n=cell.n,
            interval=wilson(cell.passes, cell.n) if cell.n else None,
            not_judged=cell.left_out.total(),
            median_s=median(seconds) if seconds else None,
            usd=cell.usd,
            episodes=len(cell.last),
            unknown_calls=cell.unknown_calls,
            models=cell.models,
            planes=cell.planes,
            moved=() if before is None else tuple(moved(before, cell, answered)),
        )
        before, answered = cell, (cell.models or answered[0], cell.fingerprints or answered[1])


def moved(before: Cell, now: Cell, answered: _Answered | None = None) -> Iterator[Moved]:
    """What is another one than before, of the scenarios that were played in both.

    ``answered`` are the names and fingerprints that were told last, in ``before`` or, where it has none as after an
    outage, earlier; None: those of ``before``.
    Names that answered only moved where both are known; fingerprints where none of them answered in both, for a
    provider has several machines.
    """
    here, there = _by_scenario(before), _by_scenario(now)
    if here.keys() != there.keys():
        yield "selection"
    shared = here.keys() & there.keys()
    if any(
        {one.scenario_digest for one in here[name]} != {one.scenario_digest for one in there[name]} for name in shared
    ):
        yield "scenario"
    if any({one.actor_digest for one in here[name]} != {one.actor_digest for one in there[name]} for name in shared):
        yield "actor"
    models, fingerprints = answered or (before.models, before.fingerprints)
    if models and now.models and models != now.models:
        yield "model"
    if fingerprints and now.fingerprints and not {*fingerprints} & {*now.fingerprints}:
        yield "fingerprint"
    if any({one.plane for one in here[name]} != {one.plane for one in there[name]} for name in shared):
        yield "plane"


def _by_scenario(cell: Cell) -> dict[str, list[IndexedEpisode]]:
    found: dict[str, list[IndexedEpisode]] = defaultdict(list)
    for one in cell.last:
        found[one.scenario].append(one)
    return found
