"""Metamorphic pairs: the same answers in two variants of a scenario, of which what changes must matter, or must not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from harness.schema.actor import ActorSpec
from harness.schema.check import CheckFinding
from harness.schema.pair import PairSpec
from harness.schema.receipt import Receipt
from harness.schema.scenario import Scenario
from harness.suite.idle import script_actor

__all__ = ["check_pairs"]

#: Plays a scripted actor in the variant of that name.
Play = Callable[[str, ActorSpec], Receipt]


def check_pairs(scenario: Scenario, play: Play) -> Iterator[CheckFinding]:
    """What is wrong with the pairs of a file: an episode that judges nobody, or verdicts that are not as promised."""
    for number, pair in enumerate(scenario.pair):
        one, other = (play(name, script_actor(f"script:pair-{number + 1}", pair.play)) for name in pair.variants)
        wrong = _wrong(pair, one, other)
        if wrong is not None:
            yield CheckFinding(
                scenario=scenario.id,
                what=wrong,
                where=f"pair[{number}]",
                todo="correct the variant, or the rule by which it is judged otherwise than its twin",
            )


def _wrong(pair: PairSpec, one: Receipt, other: Receipt) -> str | None:
    told = " and ".join(
        f"{name}: {receipt.verdict}, {receipt.failure_code or receipt.outcome.name}"
        for name, receipt in zip(pair.variants, (one, other), strict=True)
    )
    if not {one.verdict, other.verdict} <= {"pass", "fail"}:
        return f"both variants must be judged, but {told}"
    same = (one.verdict, one.failure_code) == (other.verdict, other.failure_code)
    if pair.verdicts == "agree" and not same:
        return f"verdict and code must be the same, but {told}"
    if pair.verdicts == "differ" and one.verdict == other.verdict:
        return f"the verdicts must differ, but {told}"
    return None
