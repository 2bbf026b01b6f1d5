"""What a run came to that ended once it was known who is better: in words, and how much of its plan that saved."""

from __future__ import annotations

from harness.schema.counting import counted, of_all, worded
from harness.schema.early import EarlyPair, EarlyStop
from harness.schema.run import RunView

__all__ = ["spared", "told_early"]


def told_early(view: RunView) -> tuple[str, ...]:
    """A sentence on each pair, and how much of the plan was not needed; nothing of a run that does not look."""
    early = view.manifest.early
    if early is None or not early.pairs:
        return ()
    less, planned = spared(view), len(view.manifest.plan)
    ended = (f"{of_all(less, planned, 'planned episode')} {worded(less, 'was', 'were')} not needed",)
    return (*(_pair(pair, early) for pair in early.pairs), *(ended if less else ()))


def spared(view: RunView) -> int:
    """How many places of the plan were not played because they were not needed any more."""
    there = {(one.scenario, one.actor.ref, one.trial) for one in view.receipts}
    return sum(
        not view.manifest.needs(place) and (place.scenario, place.actor, place.trial) not in there
        for place in view.manifest.plan
    )


def _pair(pair: EarlyPair, early: EarlyStop) -> str:
    looked = f"{pair.after} of {counted(early.planned, 'planned trial')} of each scenario"
    if pair.finding is None:
        return f"{pair.first} and {pair.second}: not decided after {looked}"
    more = "less" if pair.finding == "worse" else "more"
    return f"{pair.second} passes {more} often than {pair.first}: decided after {looked}"
