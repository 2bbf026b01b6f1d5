"""What a set of receipts says about a run."""

from __future__ import annotations

from collections.abc import Container, Iterable

from harness.receipt import last_attempts
from harness.schema.receipt import Receipt
from harness.schema.verdict import Verdict

__all__ = ["conclude", "is_stale"]


def conclude(receipts: Iterable[Receipt], *, set_aside: Container[tuple[str, str]] = frozenset()) -> frozenset[Verdict]:
    """The verdicts that a run without a policy answers for.

    A scripted or recorded actor is expected to pass, so its verdict counts as it is. A live actor without a policy
    only answers whether it left a receipt that is judged: ``fail`` counts as ``pass``; ``pending`` is not judged yet
    and stays what it is. Stale receipts are left out: they are news of their own. Of several attempts at one episode
    the last one counts. What is ``set_aside``, by scenario and actor, is answered for by nobody.
    """
    return frozenset(
        _counted(receipt)
        for receipt in last_attempts(receipts)
        if not is_stale(receipt) and (receipt.scenario, receipt.actor.ref) not in set_aside
    )


def is_stale(receipt: Receipt) -> bool:
    """Whether the recording that was replayed no longer fits: then the receipt proves nothing either way."""
    return any(finding.check == "drift" for finding in receipt.findings)


def _counted(receipt: Receipt) -> Verdict:
    if receipt.actor.kind == "live" and receipt.verdict == "fail":
        return "pass"
    return receipt.verdict
