"""How an episode of a run is called on the command line."""

from __future__ import annotations

from harness.schema.receipt import Receipt
from harness.schema.run import RunView

__all__ = ["is_undecided", "name_of", "numbered", "steady"]


def name_of(receipt: Receipt, several: frozenset[str]) -> str:
    """``SCENARIO#TRIAL@ACTOR``, with ``~VERSION`` where the run plays ``several`` of its plane.

    It stays the same, whatever else a run plays. ``several`` is that of the manifest, ``in_versions``.
    """
    version = f"~{receipt.plane.version}" if receipt.plane.name in several else ""
    return f"{receipt.scenario}#{receipt.trial}@{receipt.actor.ref}{version}"


def numbered(view: RunView, number: int) -> bool:
    """Whether the ``number``-th receipt, from 1, is of the place of that number in the plan.

    Numbers move where an episode before it has no receipt yet, or has several: of those that do not, each names the
    same episode whenever it is used.
    """
    receipt, plan = view.receipts[number - 1], view.manifest.plan
    if number > len(plan):
        return False
    place = plan[number - 1]
    of_plan = (place.scenario, place.actor, place.plane, place.trial)
    return of_plan == (receipt.scenario, receipt.actor.ref, receipt.plane.ref, receipt.trial)


def steady(view: RunView, number: int) -> str:
    """What to call an episode on a command line that is written down: its number where that stays, else its name."""
    if numbered(view, number):
        return str(number)
    name = name_of(view.receipts[number - 1], view.manifest.in_versions)
    return str(number) if "=" in name else name


def is_undecided(view: RunView, number: int) -> bool:
    """Whether the ``number``-th episode, from 1, waits for a decision about a call of unknown outcome."""
    receipt, log = view.receipts[number - 1], view.log[number - 1]
    return log.resumable and receipt.outcome.name == "suspended/reconciliation_required"
