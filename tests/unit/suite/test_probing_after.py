"""What calls of the harness's own were answered is changed, and each check of it must notice."""

from __future__ import annotations

import json

from toy import SCENARIO, merged

from harness.schema.base import JsonValue
from harness.schema.finding import Judgement, Proposal
from harness.schema.observation import Observation
from harness.schema.scenario import Scenario
from harness.schema.source import ValueSource
from harness.schema.trace import EpisodeTrace, TraceStep
from harness.suite.probing_after import AfterProbed, probe_after

PLACE = ValueSource(file="project/b.json", at="/id")


def probed(
    answer: dict[str, JsonValue], *, asked: bool = True, extra: dict[str, JsonValue] | None = None
) -> AfterProbed:
    """One passing step, after which the plane was asked."""
    source = PLACE.model_dump(mode="json", exclude_none=True)
    follow: JsonValue = {
        "kind": "ask",
        "plane": ["look"],
        "failed": "no_effect",
        "answer": {"/id": {"from": source}, "/done": {"equals": True, "code": "left_open"}, **(extra or {})},
    }
    bound = Scenario.model_validate_json(json.dumps(merged(SCENARIO, {"after": [follow]})))
    seen = Observation(ran=True, ok=True, text="", exit_code=0, answer=answer)
    after = ((bound.after[0], seen),) if asked else ()
    proposal, judged = Proposal(kind="ask"), Judgement()
    step = TraceStep(command="toy ask plane", facts=(), counts={}, proposal=proposal, judgement=judged, after=after)
    trace = EpisodeTrace(bound=bound, requests=(), steps=(step,), files={}, sources={PLACE: "x"})
    return probe_after({"reference": trace})


def test_every_change_is_red_and_reaches_its_code() -> None:
    found = probed({"id": "x", "done": True})
    assert (found.red, found.findings) == (found.mutations, [])
    assert found.mutations >= 7
    assert found.codes == {"no_effect", "left_open"}


def test_a_check_that_any_answer_meets_is_told() -> None:
    found = probed({"id": "x", "done": True, "note": "a"}, extra={"/note": {"avoids": "never"}})
    assert found.red < found.mutations
    assert {finding.where for finding in found.findings} == {"script reference, step 1, kind ask"}
    assert all("/note" in finding.what for finding in found.findings)


def test_a_call_that_no_passing_script_leads_to_is_told() -> None:
    found = probed({}, asked=False)
    assert [finding.what for finding in found.findings] == ["after[0] is never asked in a passing script"]
