from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.rules import codes, sayable
from harness.schema.base import JsonValue
from harness.schema.scenario import Scenario

Build = Callable[[Mapping[str, object]], Scenario]


def scenario_with_every_code(build: Build) -> Scenario:
    kinds: list[dict[str, JsonValue]] = [
        {"name": "bad", "word": "bad", "fatal": "c_fatal"},
        {
            "name": "ask",
            "word": "ask",
            "once": "c_once",
            "never": {"late": "c_never"},
            "needs": {"early": "c_needs"},
            "failed": "c_failed",
            "sets": "done",
        },
    ]
    checks = [{"kind": "ask", "answer": {"/a": {"equals": 1, "code": "c_check"}, "/b": 1}}]
    return build(
        {
            "kind": kinds,
            "check": checks,
            "silence": [{"has": ["done"], "code": "c_waited"}, {"code": "c_failed"}],
            "end_check": [{"code": "c_end", "holds": {"/answer": "left"}}],
            "outcomes": {"limit_exceeded/model_turns": "c_turns", "failed/no_progress": {"code": "c_stuck"}},
        }
    )


def test_codes_are_all_that_are_declared_once_and_in_order(build: Build) -> None:
    assert codes(scenario_with_every_code(build)) == (
        "c_fatal",
        "c_once",
        "c_never",
        "c_needs",
        "c_failed",
        "c_check",
        "unexpected_command",
        "c_waited",
        "c_end",
        "c_turns",
        "c_stuck",
    )


def test_outcome_that_changes_only_the_verdict_has_no_code(build: Build) -> None:
    scenario = build(
        {"kind": [{"name": "k", "word": "k"}], "outcomes": {"failed/no_progress": {"verdict": "not_judged"}}}
    )
    assert codes(scenario) == ("unexpected_command", "idle")


def test_sayable_are_names_codes_and_expected_values(build: Build) -> None:
    answer: JsonValue = {
        "/a": "bridge",
        "/b": {"contains": "task x"},
        "/c": {"same_as": "/a/b"},
        "/d": {"commands": {"ask": 1}},
        "/e": False,
    }
    kinds: list[dict[str, JsonValue]] = [
        {
            "name": "ask",
            "where": {"/mode": "quick"},
            "failed": "c_failed",
            "needs": {"early": "c_needs"},
            "sets": "done",
        }
    ]
    said = sayable(build({"kind": kinds, "check": [{"kind": "ask", "answer": answer}]}))
    assert {"ask", "early", "done", "c_needs", "c_failed", "idle", "quick", "timed out", "path_outside"} <= said
    assert {"bridge", "task x", 'contains "task x"', "the value at #/a/b", "1 of kind ask"} <= said


def test_long_several_line_and_absolute_texts_are_never_sayable(build: Build) -> None:
    hidden = ["x" * 201, "a\nb", "/srv/work/file.json", "see /srv/work", "~/notes", "path=/srv/work", '"/srv/x"']
    shown = ["x" * 200, "fixture/a.json", "a / b", "and/or", "1/2"]
    answer: JsonValue = {f"/{at}": {"contains": text} for at, text in enumerate((*hidden, *shown))}
    said = sayable(
        build({"kind": [{"name": "k", "word": "k", "failed": "f"}], "check": [{"kind": "k", "answer": answer}]})
    )
    assert said.isdisjoint(hidden)
    assert said >= set(shown)


def test_what_the_end_and_arguments_expect_is_sayable_too(build: Build) -> None:
    scenario = build(
        {
            "kind": [{"name": "k", "tool": "run", "where": {"/a": {"one_of": ["red", "blue"]}}}],
            "end_check": [{"code": "c_end", "holds": {"/answer": {"same_as": "/state/x"}, "/answer/b": "green"}}],
        }
    )
    assert {"red", "blue", 'one of ["red", "blue"]', "the value at #/state/x", "green"} <= sayable(scenario)
