"""How a run stands, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from harness.cli.standing import Standing, duration
from harness.schema.message import Usage
from harness.schema.run import AttemptRow, EpisodeResult
from harness.schema.verdict import Verdict

Result = Callable[[Verdict], EpisodeResult]


def paid(result: EpisodeResult, *usages: Usage | None, live: bool = True) -> EpisodeResult:
    """The result of an episode of a live model, with what its calls took."""
    rows = tuple(AttemptRow(operation="x", attempt=1, status="completed", usage=usage, seconds=1.0) for usage in usages)
    actor = result.receipt.actor.model_copy(update={"kind": "live" if live else "recorded"})
    return EpisodeResult(
        receipt=result.receipt.model_copy(update={"actor": actor}),
        log=result.log.model_copy(update={"attempts": rows}),
    )


def test_verdicts_are_counted_and_zeros_left_out(result: Result) -> None:
    standing = Standing(7)
    assert (standing.counts, standing.spent) == ("", "")
    for verdict in ("pass", "fail", "pass", "not_judged"):
        standing.over(result(verdict))
    standing.over(None)
    standing.tried(result("not_judged"))
    assert (standing.counts, standing.done) == ("2 passed, 1 failed, 1 not judged, 1 tried again", 5)


def test_what_is_known_of_the_cost_is_summed_and_what_nobody_knows_is_told_and_never_zero(result: Result) -> None:
    standing = Standing()
    standing.over(paid(result("pass"), Usage(input_tokens=1200, output_tokens=34), Usage(input_tokens=0)))
    assert standing.spent == "1,234 tokens and 2 calls of unknown cost"
    standing.tried(paid(result("not_judged"), None))
    known = paid(result("pass"), Usage(input_tokens=5))
    row = replace(known.log.attempts[0], cost_micro_usd=Decimal(12_345))
    standing.over(EpisodeResult(receipt=known.receipt, log=known.log.model_copy(update={"attempts": (row,)})))
    assert standing.spent == "$0.0123 and 3 calls of unknown cost"


@pytest.mark.parametrize(
    ("room", "told"),
    [
        (99, "2 passed, 1 failed, 1 not judged, >= $0.0123"),
        (44, "2 passed, 1 failed, 1 not judged, >= $0.0123"),
        (43, ">= $0.0123, 2 passed, 1 failed, 1 not judg…"),
        (20, ">= $0.0123, 2 passe…"),
        (0, "…"),
    ],
)
def test_where_there_is_little_room_the_cost_is_not_what_is_cut(result: Result, room: int, told: str) -> None:
    standing = Standing()
    for verdict in ("pass", "fail", "pass", "not_judged"):
        standing.over(result(verdict))
    standing.micro_usd, standing.unknown = Decimal(12_345), 3
    assert standing.shortly(room) == told


def test_tokens_are_told_shortly_where_no_cost_is_known(result: Result) -> None:
    standing = Standing()
    standing.over(paid(result("pass"), Usage(input_tokens=1200, output_tokens=34), None))
    assert standing.shortly(30) == "1 passed, 1,234 tokens"


def test_a_recording_costs_nothing_and_a_call_that_never_left_neither(result: Result) -> None:
    standing = Standing()
    standing.over(paid(result("pass"), Usage(input_tokens=5), live=False))
    unsent = paid(result("not_judged"), None)
    row = replace(unsent.log.attempts[0], status="not_sent")
    standing.over(EpisodeResult(receipt=unsent.receipt, log=unsent.log.model_copy(update={"attempts": (row,)})))
    assert standing.spent == ""


@pytest.mark.parametrize(("total", "done", "left"), [(None, 3, None), (4, 0, None), (4, 1, 30.0), (4, 4, None)])
def test_the_rest_takes_as_long_as_what_was_played(total: int | None, done: int, left: float | None) -> None:
    assert Standing(total, done).left_s(10.0) == left


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (3500, "58 min"), (3590, "1 h 0 min"), (7500, "2 h 5 min")],
)
def test_a_duration_is_told_as_a_person_says_it(seconds: float, told: str) -> None:
    assert duration(seconds) == told
