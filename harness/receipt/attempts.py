"""Several attempts at one episode: which of them counts, and whether another one can help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from harness.schema.receipt import Receipt
from harness.schema.run import DECIDED, EpisodeResult, RunLogEntry

__all__ = ["ProviderFailure", "is_damaged", "last_attempts", "provider_failure"]

#: ``outage`` may be over soon; ``refused`` (key or quota) meets every further episode of that provider too;
#: ``unusable`` is a request or a model that the provider does not know.
ProviderFailure = Literal["outage", "refused", "unusable"]

_BY_CATEGORY: dict[str, ProviderFailure] = {
    "auth": "refused",
    "quota_exhausted": "refused",
    "invalid_request": "unusable",
    "model_not_found": "unusable",
}
#: Endings that another attempt may not have. Not among them: usage that a provider does not tell.
_REASONS = frozenset({"model_error", "duration"})


def provider_failure(result: EpisodeResult) -> ProviderFailure | None:
    """How the provider of a live model failed where that is why nothing was judged; None in every other case.

    The receipt alone cannot tell a quota that is used up from a rate that is too high: the run log can.
    """
    receipt = result.receipt
    if receipt.actor.kind != "live" or receipt.verdict != "not_judged" or receipt.cause != "provider":
        return None
    if receipt.outcome.reason not in _REASONS:
        return None
    last = result.log.attempts[-1].error if result.log.attempts else receipt.outcome.detail
    if last == DECIDED:
        return None  # whoever decided so did not ask for another one
    return _BY_CATEGORY.get(last or "", "outage")


def is_damaged(receipt: Receipt, log: RunLogEntry) -> bool:
    """Whether an episode is kept on disk and cannot be gone on with, for what lies there is damaged."""
    is_refused = receipt.outcome.status == "rejected" and log.recovery_class == "reconciliation_required"
    return is_refused and log.resumable


def last_attempts(receipts: Iterable[Receipt]) -> tuple[Receipt, ...]:
    """Those that count: of each episode the ones of its last attempt, in the order given."""
    given = tuple(receipts)
    if all(receipt.attempt == 1 for receipt in given):
        return given
    # to make a key takes a while: only of episodes that share their scenario, actor and trial with another attempt
    again = {_rough(receipt) for receipt in given if receipt.attempt != 1}
    last: dict[str, int] = {}
    for receipt in given:
        if _rough(receipt) in again:
            last[receipt.episode] = max(receipt.attempt, last.get(receipt.episode, 0))
    return tuple(
        receipt for receipt in given if _rough(receipt) not in again or receipt.attempt == last[receipt.episode]
    )


def _rough(receipt: Receipt) -> tuple[str, str, int]:
    """What attempts at one episode have in common, and others may too."""
    return receipt.scenario, receipt.actor.digest, receipt.trial
