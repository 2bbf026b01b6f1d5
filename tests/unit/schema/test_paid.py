"""What calls cost, as far as anybody knows."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from judged import Played

from harness.schema.paid import paid


def test_what_is_unknown_is_counted_and_never_zero() -> None:
    first = Played("pack/a", 1, "not_judged", costs=(Decimal("1.5"), None)).result.log
    second = Played("pack/a", 1, "pass", attempt=2, costs=(Decimal(2),), is_damaged=True).result.log
    found = paid([first, second])
    assert (found.calls, found.unknown, found.damaged, found.micro_usd) == (3, 1, 1, Decimal("3.5"))
    assert (found.is_known, found.at_least) == (True, True)
    nobody_knows = paid([Played("pack/a", 1, "pass", costs=(None,)).result.log])
    assert (nobody_knows.is_known, nobody_knows.at_least) == (False, True)


def test_what_was_not_sent_is_no_call_and_nothing_is_known_of_no_call() -> None:
    log = Played("pack/a", 1, "pass", costs=(Decimal(1),)).result.log
    unsent = log.model_copy(update={"attempts": tuple(replace(one, status="not_sent") for one in log.attempts)})
    found = paid([unsent])
    assert (found.calls, found.unknown, found.is_known, found.at_least) == (0, 0, False, False)
