from __future__ import annotations

import json

import pytest
from small_world import SMALL

from harness.schema.base import JsonValue
from harness.schema.finding import Proposal
from harness.schema.observation import Observation
from harness.schema.scenario import Scenario
from harness.schema.trace import EpisodeTrace, TraceChange, TraceStep
from harness.suite.allowances import too_wide


def scenario_of(**change: JsonValue) -> Scenario:
    return Scenario.model_validate_json(json.dumps({**SMALL, **change}))


def wide(patterns: list[str], written: list[str], by: str = "control_plane") -> list[str]:
    """What is said of a boundary where an episode wrote that; folders on the way are changes too."""
    key = "plane_writes" if by == "control_plane" else "tool_writes"
    scenario = scenario_of(boundary={key: [*patterns]})
    folders = {path.rsplit("/", cut)[0] for path in written for cut in range(1, path.count("/") + 1)}
    changes = [TraceChange(path=path, change="added", by=by, allowed=True) for path in sorted({*written, *folders})]
    trace = EpisodeTrace(bound=scenario, requests=(), steps=(), files={}, changes=tuple(changes))
    return [f"{one.where}: {one.what}" for one in too_wide(scenario, [trace])]


@pytest.mark.parametrize("by", ["control_plane", "tool"])
def test_a_place_where_nothing_is_written_is_told(by: str) -> None:
    assert wide(["run/log"], ["run/log"], by) == []
    assert wide(["run/log"], ["run/other"], by) == ["write run/log: nothing that was played writes there"]
    assert wide(["run/log/**"], [], by) == ["write run/log/**: nothing that was played writes there"]


def test_a_place_is_written_to_by_whom_it_is_allowed() -> None:
    scenario = scenario_of(boundary={"tool_writes": ["run/log"]})
    change = TraceChange(path="run/log", change="added", by="control_plane", allowed=False)
    trace = EpisodeTrace(bound=scenario, requests=(), steps=(), files={}, changes=(change,))
    assert [one.where for one in too_wide(scenario, [trace])] == ["write run/log"]


@pytest.mark.parametrize(
    ("pattern", "written", "told"),
    [
        ("run/goals/**", ["run/goals/a", "run/goals/b"], None),
        ("run/goals/**", ["run/goals/one/a", "run/goals/two/a"], None),
        ("run/**", ["run/goals/a", "run/goals/b"], "all of it is below run/goals"),
        ("run/**", ["run/goals/a"], "run/goals/a is all"),
    ],
)
def test_a_pattern_is_as_narrow_as_what_is_written(pattern: str, written: list[str], told: str | None) -> None:
    expected = [] if told is None else [f"write {pattern}: it allows more than is written: {told}"]
    assert wide([pattern], written) == expected


def hidden(at: str, *answers: JsonValue) -> list[str]:
    """What is said of a volatile pointer where each episode got one answer."""
    scenario = scenario_of(call={"allow": {"ask now": []}, "volatile": [at]})
    traces = []
    for answer in answers:
        assert isinstance(answer, dict)
        seen = Observation(ran=True, ok=True, text="", answer=answer)
        step = TraceStep(command="ask", facts=(), counts={}, proposal=Proposal(kind="ask", code=None), observation=seen)
        traces.append(EpisodeTrace(bound=scenario, requests=(), steps=(step,), files={}))
    return [one.what for one in too_wide(scenario, traces)]


@pytest.mark.parametrize(
    ("at", "answers", "told"),
    [
        ("/id", [{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}], []),
        ("/id", [{"id": 1}, {"id": 1}, {"id": 1}], []),  # fast episodes: the same by chance
        ("/id", [{"id": 1}, {"id": 1}, {"id": 1}, {"id": 1}], ["it is the same in every episode"]),
        ("/id", [{}, {"other": 1}], ["no answer has it"]),
        ("/event", [{"event": {"id": 1}}], ["all that is in it may differ, for it is no single value"]),
        ("/target", [{"target": 1}], ["what may differ is what a check looks at: /target/names/0"]),
        ("/mode", [{"mode": "a"}], ["what may differ is what a check looks at: /mode"]),
        ("/mode/word", [{"mode": {"word": 1}}], []),  # a check of what is around it does not look at it
    ],
)
def test_a_volatile_value_hides_nothing(at: str, answers: list[JsonValue], told: list[str]) -> None:
    assert hidden(at, *answers) == told


def test_without_an_episode_nothing_is_said() -> None:
    assert too_wide(scenario_of(boundary={"plane_writes": ["run/log"]}), []) == []


def test_what_is_not_needed_in_one_of_several_scenarios_of_a_file_may_be_for_the_others() -> None:
    scenario = scenario_of(
        boundary={"plane_writes": ["run/log", "run/**"]}, call={"allow": {"ask now": []}, "volatile": ["/id", "/mode"]}
    )
    change = TraceChange(path="run/one", change="added", by="control_plane", allowed=True)
    trace = EpisodeTrace(bound=scenario, requests=(), steps=(), files={}, changes=(change,))
    alone = [one.where for one in too_wide(scenario, [trace])]
    assert alone == ["write run/log", "write run/**", "volatile /id", "volatile /mode"]
    assert [one.where for one in too_wide(scenario, [trace], shared=True)] == ["write run/**", "volatile /mode"]
