"""Pairs of variants: their verdicts agree or differ as promised, or it is told."""

from __future__ import annotations

import json

import pytest
from planned import job_of, result_of
from toy import SCENARIO, merged

from harness.schema.actor import ActorSpec
from harness.schema.base import JsonValue
from harness.schema.outcome import Outcome
from harness.schema.receipt import Receipt
from harness.schema.scenario import Scenario
from harness.schema.verdict import Verdict
from harness.suite.pairs import check_pairs

Judged = tuple[Verdict, str | None]
PASS: Judged = ("pass", None)


def told(verdicts: str, one: Judged, other: Judged) -> list[str]:
    pair: JsonValue = {"variants": ["base", "other"], "verdicts": verdicts, "play": ["toy ask plane"]}
    scenario = Scenario.model_validate_json(json.dumps(merged(SCENARIO, {"pair": [pair]})))
    played: list[tuple[str, ActorSpec]] = []

    def play(name: str, actor: ActorSpec) -> Receipt:
        played.append((name, actor))
        verdict, code = one if name == "base" else other
        outcome = Outcome(status="completed", reason="final_response")
        return result_of(job_of("pack/a"), verdict, outcome).receipt.model_copy(update={"failure_code": code})

    found = [finding.what for finding in check_pairs(scenario, play)]
    assert [name for name, _ in played] == ["base", "other"]
    assert {actor.script for _, actor in played} == {("toy ask plane",)}
    return found


@pytest.mark.parametrize(
    ("verdicts", "one", "other"),
    [
        ("agree", PASS, PASS),
        ("agree", ("fail", "a"), ("fail", "a")),
        ("differ", PASS, ("fail", "a")),
        ("differ", ("fail", "a"), PASS),
    ],
)
def test_what_is_as_promised_is_not_told(verdicts: str, one: Judged, other: Judged) -> None:
    assert told(verdicts, one, other) == []


@pytest.mark.parametrize(
    ("verdicts", "one", "other", "what"),
    [
        ("agree", PASS, ("fail", "a"), "must be the same, but base: pass, completed/final_response and other: fail, a"),
        ("agree", ("fail", "a"), ("fail", "b"), "must be the same"),
        ("differ", PASS, PASS, "must differ"),
        ("differ", ("fail", "a"), ("fail", "b"), "must differ"),
        ("differ", PASS, ("not_judged", "x"), "both variants must be judged"),
        ("agree", ("pending", None), ("pending", None), "both variants must be judged"),
    ],
)
def test_what_is_not_as_promised_is_told(verdicts: str, one: Judged, other: Judged, what: str) -> None:
    (found,) = told(verdicts, one, other)
    assert what in found
