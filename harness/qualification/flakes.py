"""How often a verdict turns from run to run though nothing was changed, and how often trials of one run disagree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.qualification.intervals import wilson
from harness.qualification.past import Cell, Place, places, whole_runs
from harness.schema.flakes import Flake
from harness.schema.history import IndexedRun
from harness.schema.quarantine import entry_for

__all__ = ["OFTEN", "flakes"]

#: A live model's verdict that surely turns more often than this gates nothing.
OFTEN = 0.1
#: There and back: a verdict that turned once may have turned for good.
_THERE_AND_BACK = 2
#: One odd run of a live model turns its verdict twice.
_MORE_THAN_ONE_ODD_RUN = 3


@dataclass(frozen=True, slots=True)
class _Look:
    """What one run says of a place: ``same`` is equal where nothing that is known was changed."""

    run: IndexedRun
    same: tuple[object, ...]
    cell: Cell

    @property
    def passed(self) -> bool:
        """Most of its judged trials."""
        return 2 * self.cell.passes > self.cell.n


def flakes(runs: Sequence[IndexedRun]) -> tuple[Flake, ...]:
    """Of each actor in each scenario on each version of a control plane, those that turn most often first.

    Of whole runs only; one without a judged trial there is passed over. Of several trials the verdict of most counts.
    """
    found: dict[Place, list[_Look]] = defaultdict(list)
    for run in whole_runs(runs):
        for place, cell in places(run).items():
            if cell.n:
                found[place].append(_Look(run, _identity(run, cell), cell))
    told = [_flake(place, looks) for place, looks in found.items()]
    return tuple(
        sorted(told, key=lambda one: (not one.is_flaky, -(one.rate or 0), -one.split, one.scenario, one.actor))
    )


def _identity(run: IndexedRun, cell: Cell) -> tuple[object, ...]:
    """Trials of one run have one identity, but for what somebody put together by hand."""
    whole = {(one.scenario_digest, one.classifier_version, one.actor_digest, one.plane) for one in cell.last}
    return (run.harness_version, frozenset(whole), cell.models)


def _flake(place: Place, looks: Sequence[_Look]) -> Flake:
    pairs = [(one, other) for one, other in pairwise(looks) if one.same == other.same]
    flips = sum(one.passed != other.passed for one, other in pairs)
    repeated = [look for look in looks if look.cell.n > 1]
    split = sum(0 < look.cell.passes < look.cell.n for look in repeated)
    interval = wilson(flips, len(pairs)) if pairs else None
    if any(one.kind == "live" for one in looks[-1].cell.last):
        is_flaky = interval is not None and interval.low > OFTEN and flips >= _MORE_THAN_ONE_ODD_RUN
    else:
        is_flaky = flips >= _THERE_AND_BACK or split > 0
    return Flake(
        scenario=place.scenario,
        actor=place.actor,
        plane=place.plane,
        runs=len(looks),
        pairs=len(pairs),
        flips=flips,
        interval=interval,
        repeated=len(repeated),
        split=split,
        passes=sum(look.cell.passes for look in looks),
        n=sum(look.cell.n for look in looks),
        is_flaky=is_flaky,
        set_aside=entry_for(looks[-1].run.quarantine, place.scenario, place.actor) is not None,
    )
