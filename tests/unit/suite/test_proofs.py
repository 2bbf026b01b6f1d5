from __future__ import annotations

import json

import pytest
from small_world import SMALL

from harness.schema.base import JsonValue
from harness.schema.scenario import Scenario
from harness.suite.proofs import unproved


def unproved_facts(**change: JsonValue) -> list[str]:
    scenario = Scenario.model_validate_json(json.dumps({**SMALL, **change}))
    return [one.where.removeprefix("proof of ") for one in unproved(scenario)]


CHECKS = SMALL["check"]
assert isinstance(CHECKS, list)


@pytest.mark.parametrize(
    ("checks", "facts"),
    [
        (CHECKS, []),
        (CHECKS[1:], ["informed"]),  # it leads to the accepted fact
        (CHECKS[:1], ["seen"]),
        ([], ["informed", "seen"]),
        ([{"kind": "ask"}, CHECKS[1]], ["informed"]),  # a check that looks at nothing
    ],
)
def test_each_fact_that_a_pass_depends_on_is_proved_by_a_check(checks: list[JsonValue], facts: list[str]) -> None:
    assert unproved_facts(check=checks) == facts


def test_a_fact_that_only_tells_silences_apart_needs_no_proof() -> None:
    kinds = SMALL["kind"]
    assert isinstance(kinds, list)
    listens: JsonValue = {"name": "listen", "read": "metadata", "sets": "heard"}
    assert unproved_facts(kind=[*kinds, listens]) == []
    passes: JsonValue = {"suspended/blocked": {"verdict": "pass", "needs": ["heard"]}}
    assert unproved_facts(kind=[*kinds, listens], outcomes=passes) == ["heard"]
