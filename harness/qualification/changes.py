"""A run held against an earlier one: what fails now, what does no more, who else answered, what it took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from harness.qualification.comparing import ALPHA
from harness.qualification.difference import difference
from harness.qualification.past import Cell, Place, cell_of
from harness.qualification.permutation import Stratum, permutation_test
from harness.qualification.ranks import BEYOND, shift
from harness.qualification.several import NAMED, benjamini_hochberg
from harness.qualification.trends import moved
from harness.schema.changes import ActorChanges, Counts, PlaceChange, PlaceKind, RunChanges, Side
from harness.schema.history import IndexedEpisode, IndexedRun
from harness.schema.money import MICRO
from harness.schema.quarantine import entry_for

__all__ = ["changes"]


_Cells = Mapping[str, Cell]


def changes(old: IndexedRun, new: IndexedRun) -> RunChanges:
    """All that is different in ``new``, which need not be the later one.

    Where one of them has several versions of a control plane each version is held against itself; else a version that
    moved is told, and verdicts are held against each other across it.
    """
    apart = any(_in_versions(run) for run in (old, new))
    before, now = _players(old, apart=apart), _players(new, apart=apart)
    actors = tuple(
        _actor(place, before.get(place, {}), now.get(place, {}), new) for place in dict.fromkeys((*now, *before))
    )
    return RunChanges(before=_side(old), now=_side(new), actors=actors)


def _side(run: IndexedRun) -> Side:
    return Side(run=run.folder, created_at=run.created_at, state=run.state)


def _in_versions(run: IndexedRun) -> bool:
    versions: dict[str, set[str]] = defaultdict(set)
    for one in run.episodes:
        versions[one.plane.name].add(one.plane.ref)
    return any(len(refs) > 1 for refs in versions.values())


def _players(run: IndexedRun, *, apart: bool) -> dict[Place, dict[str, Cell]]:
    """By actor, and version where they are told apart: what was played in each scenario."""
    found: dict[Place, dict[str, list[IndexedEpisode]]] = defaultdict(lambda: defaultdict(list))
    for one in run.episodes:
        found[Place("", one.actor, one.plane.ref if apart else "")][one.scenario].append(one)
    return {place: {name: cell_of(some) for name, some in cells.items()} for place, cells in found.items()}


def _actor(place: Place, before: _Cells, now: _Cells, new: IndexedRun) -> ActorChanges:
    whole = [cell_of(one for cell in cells.values() for one in cell.attempts) for cells in (before, now)]
    here, there = (_counts(cell) if cell.last else None for cell in whole)
    if here is None or there is None:
        return ActorChanges(actor=place.actor, plane=place.plane, before=here, now=there)
    shared = [name for name in now if name in before and _is_comparable(before[name], now[name])]
    strata = [_stratum(before[name], now[name]) for name in shared]
    rate, chance = difference(strata), permutation_test(strata)
    finding = None if rate is None or chance > ALPHA else "worse" if rate.effect < 0 else "better"
    places = _places(before, now, dict(zip(shared, strata, strict=True)))
    return ActorChanges.model_validate(
        {
            "actor": place.actor,
            "plane": place.plane,
            "before": here,
            "now": there,
            "places": tuple(_in_quarantine(one, place, new) for one in places if one.kinds),
            "alike": sum(not one.kinds for one in places),
            "moved": tuple(moved(whole[0], whole[1])),
            "models": tuple(cell.models for cell in whole),
            "fingerprints": tuple(cell.fingerprints for cell in whole),
            "planes": tuple(cell.planes for cell in whole),
            "rate": rate,
            "chance": None if rate is None else chance,
            "finding": finding,
            "seconds": shift([(before[name].seconds, now[name].seconds) for name in shared]),
            "usd": shift([(_usd(before[name]), _usd(now[name])) for name in shared]),
        }
    )


def _places(before: _Cells, now: _Cells, strata: Mapping[str, Stratum]) -> Sequence[PlaceChange]:
    """Every scenario of both, those without a change too."""
    several = [name for name, one in strata.items() if min(one.first_n, one.second_n) > 1]
    chances = [permutation_test([strata[name]]) for name in several]
    corrected = dict(zip(several, zip(chances, benjamini_hochberg(chances), strict=True), strict=True))
    found = []
    for name in dict.fromkeys((*now, *before)):
        here, there = before.get(name), now.get(name)
        chance, all_looked_at = corrected.get(name, (None, None))
        found.append(
            PlaceChange(
                scenario=name,
                kinds=tuple(_kinds(here, there, all_looked_at)),
                before=None if here is None else _counts(here),
                now=None if there is None else _counts(there),
                chance=chance,
                corrected=all_looked_at,
                is_sure=name in strata and _is_sure(before[name], now[name], all_looked_at),
            )
        )
    return found


def _kinds(before: Cell | None, now: Cell | None, corrected: float | None) -> Iterator[PlaceKind]:
    if before is None or now is None:
        yield "added" if before is None else "removed"
        return
    if not _is_comparable(before, now):
        yield "changed"
        return
    if _left_out_otherwise(before, now):
        rose = now.left_out.total() * len(before.last) > before.left_out.total() * len(now.last)
        yield "not_judged" if rose else "judged"
    if not (before.n and now.n):
        return
    passed, passes = (2 * cell.passes > cell.n for cell in (before, now))
    if passed != passes:
        yield "new_fail" if passed else "fixed"
    elif corrected is not None and corrected <= NAMED:
        yield "worse" if now.passes * before.n < before.passes * now.n else "better"


def _is_sure(before: Cell, now: Cell, corrected: float | None) -> bool:
    """Whether chance does not explain that judged trials came out otherwise: a script or a recording has none."""
    if corrected is not None and corrected <= NAMED:
        return True
    is_live = any(one.kind == "live" for one in (*before.last, *now.last))
    rates = {before.passes / (before.n or 1), now.passes / (now.n or 1)}
    return not is_live and bool(before.n and now.n) and rates == {0.0, 1.0}


def _left_out_otherwise(before: Cell, now: Cell) -> bool:
    """Whether some were not judged where before all were, or the other way round, or more or fewer than by chance."""
    was, is_ = before.left_out.total(), now.left_out.total()
    if (was == 0) != (is_ == 0):
        return True
    return permutation_test([Stratum(was, len(before.last), is_, len(now.last))]) <= BEYOND


def _is_comparable(before: Cell, now: Cell) -> bool:
    """Whether the same was asked, and judged in the same way."""
    asked, asks = ({(one.scenario_digest, one.classifier_version) for one in cell.last} for cell in (before, now))
    return asked == asks


def _in_quarantine(change: PlaceChange, place: Place, new: IndexedRun) -> PlaceChange:
    entry = entry_for(new.quarantine, change.scenario, place.actor)
    return change if entry is None else change.model_copy(update={"set_aside": True})


def _counts(cell: Cell) -> Counts:
    return Counts(passes=cell.passes, n=cell.n, not_judged=dict(cell.left_out), codes=dict(cell.codes.most_common()))


def _stratum(before: Cell, now: Cell) -> Stratum:
    return Stratum(before.passes, before.n, now.passes, now.n)


def _usd(cell: Cell) -> list[float]:
    """Of each episode whose cost is wholly known, all of its attempts."""
    paid: dict[tuple[str, object, int], list[IndexedEpisode]] = defaultdict(list)
    for one in cell.attempts:
        paid[one.actor_digest, one.plane, one.trial].append(one)
    known = [rows for rows in paid.values() if all(row.calls and not row.unknown_calls for row in rows)]
    return [float(sum(row.micro_usd for row in rows) / MICRO) for rows in known]
