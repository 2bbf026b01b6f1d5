"""The decisions that come with the package, about packets of the real control plane."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from harness import wiring
from harness.classifiers.json_decision import JsonDecision
from harness.schema.base import JsonValue
from harness.schema.classifier import Evidence
from harness.schema.message import UserMessage
from harness.schema.outcome import Outcome
from harness.schema.pointer import pointer, without
from harness.schema.run import EpisodeJob

pytestmark = [pytest.mark.plane, pytest.mark.slow]

REPOSITORY = Path(__file__).resolve().parents[2]
NAMES = sorted(
    f"loopx/{path.stem}"
    for path in (REPOSITORY / "scenarios/loopx").glob("*.toml")
    if 'by = "json_decision"' in path.read_text("utf-8")
)
OTHERS: tuple[JsonValue, ...] = (None, True, False, 7, "another", "todo_another", [], ["another"], {}, {"another": 1})


@pytest.fixture(scope="module")
def place(plane_home: Path) -> wiring.Settings:
    return replace(wiring.settings(cwd=REPOSITORY), home=plane_home)


@pytest.fixture(scope="module")
def session(place: wiring.Settings) -> Iterator[wiring.Session]:
    with wiring.Session(place) as opened:
        yield opened


def test_there_are_some() -> None:
    assert len(NAMES) >= 7


@pytest.mark.parametrize("name", NAMES)
def test_each_part_of_the_right_answer_is_held_against_the_packet(
    place: wiring.Settings, session: wiring.Session, name: str
) -> None:
    loaded = wiring.load_scenario(place, name)
    (spec,) = wiring.actor_specs(place, "script", loaded, ())
    plane = wiring.plane_identity(place, loaded.scenario.plane)
    result, trace = session.trace(EpisodeJob(loaded=loaded, actor=spec, plane=plane))
    assert result.receipt.verdict == "pass"
    assert trace is not None
    (asked,) = [one.text for one in trace.requests[0].messages if isinstance(one, UserMessage)]
    before, _, shown = asked.partition("The packet:\n")
    packet = json.loads(shown)
    (judge,) = trace.bound.classify
    decision = JsonDecision.model_validate_json(json.dumps(judge.settings))
    answer = json.loads(trace.bound.values["aligned"])

    def found(text: str) -> set[str]:
        seen = Evidence(outcome=Outcome(status="completed", reason="final_response"), text=text, packet=packet)
        return {one.ground for one in decision.classify(seen)}

    assert found(json.dumps(answer)) == set()
    held = [at for at, field in decision.fields.items() if field.derivations]
    graded = [at for at in held if at not in _free(decision, packet)]
    assert len(graded) >= 7
    for at in graded:
        assert found(json.dumps(without(answer, [at]))), at
        for other in OTHERS:
            if other != pointer(answer, at) or type(other) is not type(pointer(answer, at)):
                assert at in found(json.dumps(_with(answer, at, other))), (at, other)
    for texts in decision.prepare(packet).withheld.values():
        assert [text for text in texts if text in before] == []


def _free(decision: JsonDecision, packet: JsonValue) -> list[str]:
    """Fields that are held against something in other packets only."""
    return [
        at
        for at, field in decision.fields.items()
        if any(pointer(packet, to) != is_ for to, is_ in field.where.items())
    ]


def _with(answer: JsonValue, at: str, value: JsonValue) -> JsonValue:
    copy = deepcopy(answer)
    *way, key = at.split("/")[1:]
    inner = cast("dict[str, JsonValue]", copy)
    for step in way:
        inner = cast("dict[str, JsonValue]", inner[step])
    inner[key] = value
    return copy
