"""What is played only where it is asked for: mutants of scripts, worlds without a part, walks; and what waives it."""

from __future__ import annotations

import copy
import json
import sys

import pytest
from planned import job_of, result_of
from small_world import FILE, SMALL, World, check, part, told

from harness.errors import UsageError
from harness.redaction import name as shown_name
from harness.schema.base import JsonValue
from harness.schema.check import CheckFinding, DeepCount
from harness.schema.outcome import Outcome
from harness.schema.receipt import Step
from harness.schema.scenario import Scenario
from harness.schema.trace import EpisodeTrace, TraceChange
from harness.schema.verdict import Verdict
from harness.schema.waiver import WaiverSpec
from harness.suite import Deep, require_walker
from harness.suite.differing import first_difference
from harness.suite.effects import Effects
from harness.suite.playing import Played, side_by_side
from harness.suite.waiving import waived
from harness.suite.walking import _complaint

MUTANTS, FIXTURES = Deep(mutants=True), Deep(fixtures=True)
WHY = "it is as right"


def forgetful(data: dict[str, JsonValue]) -> None:
    """Nobody has to ask any more before looking."""
    part(data, "kind", 1).pop("needs")
    part(data, "script", "wrong").pop("looked_first")


def test_a_mutant_with_the_effects_of_a_right_script_is_the_same_in_other_words() -> None:
    report = check(deep=MUTANTS)
    assert told(report) == []
    # of each script: drop 2, swap 1, repeat 2, alter ask and look; a script that looks twice has looked once too often
    assert report.deep["mutants"] == DeepCount(
        played=14, noticed=12, same=2, alike=("reference (repeat 2)", "patient (repeat 2)")
    )


def test_a_mutant_that_passes_by_accident_is_told_with_what_is_different() -> None:
    report = check(forgetful, deep=MUTANTS)
    accident = "it passes by accident: the facts are seen, and not informed, seen"
    assert told(report) == [
        f"mutant of {script} ({mutation}): {accident}"
        for script in ("reference", "patient")
        for mutation in ("drop 1", "swap 1")
    ]


def waive(data: dict[str, JsonValue], *mutations: str, what: str | None = None) -> None:
    forgetful(data)
    data["waiver"] = {
        "equivalent": [
            {"script": script, "mutations": [*mutations], "reason": WHY} for script in ("reference", "patient")
        ],
        "waived": [] if what is None else [{"what": what, "reason": WHY}],
    }


def test_a_mutant_that_is_declared_equivalent_may_pass() -> None:
    report = check(lambda data: waive(data, "drop 1", "swap 1"), deep=MUTANTS)
    assert told(report) == []
    assert report.deep["mutants"].declared == 4


def test_an_equivalence_that_is_not_needed_is_told() -> None:
    report = check(lambda data: waive(data, "drop 1", "swap 1", "drop 2", "repeat 2", "drop 9"), deep=MUTANTS)
    assert told(report) == [
        f"equivalence of {script} ({mutation}): no such mutant passes with other effects than the right scripts have"
        for script in ("reference", "patient")
        for mutation in ("drop 2", "repeat 2", "drop 9")
    ]


def test_without_mutants_no_equivalence_is_called_unneeded() -> None:
    assert told(check(lambda data: waive(data, "drop 9"))) == []


def test_more_mutants_than_are_played_are_counted_and_their_equivalences_are_not_unneeded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.suite.mutated_scripts.MUTANTS_MAX", 2)
    report = check(lambda data: waive(data, "drop 1", "swap 1"), deep=MUTANTS)
    assert (report.deep["mutants"].played, report.deep["mutants"].left_out) == (2, 12)
    assert told(report) == []


def furnished(data: dict[str, JsonValue], *places: str) -> None:
    data["workspace"] = {"roots": ["project"], "file": [{"at": [*places], "text": "{}"}]}


def test_a_part_of_the_world_that_nobody_needs_is_told_place_by_place() -> None:
    report = check(lambda data: furnished(data, "project/spare.json", FILE, "project/more.json"), deep=FIXTURES)
    gone = "nobody notices that it is gone: every script and every wrong path ends as before"
    assert report.deep["fixtures"] == DeepCount(played=3, noticed=1)
    assert told(report) == [f"fixture project/spare.json: {gone}", f"fixture project/more.json: {gone}"]


def test_each_step_and_each_repository_is_a_part() -> None:
    def change(data: dict[str, JsonValue]) -> None:
        data["workspace"] = {"roots": ["project"], "git": ["project"], "prepare": [{"plane": ["a"]}, {"plane": ["b"]}]}

    wheres = [finding.where for finding in check(change, deep=FIXTURES).findings]
    assert wheres == ["fixture prepare[0]", "fixture prepare[1]", "fixture git project"]


def test_a_finding_is_waived_by_what_the_report_calls_it() -> None:
    def change(data: dict[str, JsonValue]) -> None:
        furnished(data, FILE, "project/spare.json")
        data["waiver"] = {"waived": [{"what": "fixture project/spare.json", "reason": "it makes it look real"}]}

    report = check(change, deep=FIXTURES)
    assert (told(report), report.waived) == ([], 1)
    assert told(check(change)) == []  # it was not looked for


@pytest.mark.parametrize("what", ["kind ask", "code odd", "proof of seen", "write a/b", "volatile /x", "offer of odd"])
def test_a_waiver_of_nothing_is_told(what: str) -> None:
    report = check(lambda data: data.update(waiver={"waived": [{"what": what, "reason": WHY}]}))
    assert told(report) == [f"waiver of {what}: there is nothing to be waived"]


def test_a_waiver_covers_every_finding_of_that_name() -> None:
    spec = WaiverSpec.model_validate({"waived": ({"what": "check of ask", "reason": WHY},)})
    scenario = Scenario.model_validate_json(json.dumps(SMALL)).model_copy(update={"waiver": spec})
    one = CheckFinding(scenario="pack/small", what="a", where="check of ask", todo="t")
    other = one.model_copy(update={"where": "check of look"})
    assert waived(scenario, [one, other, one], asked=frozenset({"check"})) == ([other], 1)


@pytest.mark.parametrize(
    "waiver",
    [
        {"waived": [{"what": "script reference", "reason": WHY}]},
        {"waived": [{"what": "mutant of reference, drop 1", "reason": WHY}]},
        {"waived": [{"what": "code", "reason": WHY}]},
        {"waived": [{"what": "code odd", "reason": "  "}]},
        {"waived": [{"what": "code odd"}]},
        {"equivalent": [{"script": "reference", "mutations": [], "reason": WHY}]},
        {"equivalent": [{"script": "reference", "mutations": ["drop *"], "reason": WHY}]},
        {"equivalent": [{"script": "reference", "mutations": ["alter 1"], "reason": WHY}]},
    ],
)
def test_what_makes_a_scenario_wrong_cannot_be_waived_nor_anything_without_a_reason(waiver: JsonValue) -> None:
    with pytest.raises(ValueError, match="waiver"):
        Scenario.model_validate_json(json.dumps({**SMALL, "waiver": waiver}))


def test_a_walk_that_passes_by_accident_is_told_in_its_shortest_form() -> None:
    report = check(forgetful, deep=Deep(walks=40))
    (finding,) = report.findings
    assert finding.where == "walk of 1"
    assert finding.what == ('it passes by accident: the facts are seen, and not informed, seen, after ["look"]')
    assert 0 < report.deep["walks"].played <= 80


def test_a_sound_scenario_is_walked_without_a_finding_and_the_same_way_each_time() -> None:
    one, other = check(deep=Deep(walks=25)), check(deep=Deep(walks=25))
    assert told(one) == []
    assert one.deep == other.deep
    assert 10 < one.deep["walks"].played <= 25


def test_a_crash_on_a_walk_is_a_finding_and_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    call = World.call

    def crashing(world: World, command: str) -> None:
        if "&&" in command:
            raise ZeroDivisionError(command)
        call(world, command)

    monkeypatch.setattr(World, "call", crashing)
    (finding,) = check(deep=Deep(walks=100)).findings
    assert finding.what.startswith("the harness crashes (ZeroDivisionError), after [")
    assert "&&" in finding.what


def test_where_the_library_that_walks_is_missing_one_line_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    require_walker()
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(UsageError, match=r"pip install 'behavior-harness\[walk\]'"):
        require_walker()


@pytest.mark.parametrize(
    ("one", "other", "at"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, None),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "/a/1/b"),
        ({"a/b": 1}, {}, "/a~1b"),
        ([1], [1, 2], "/1"),
        (1, True, ""),
        (1, 1.0, ""),
        ({"b": 1, "a": 1}, {"b": 2, "a": 2}, "/a"),
    ],
)
def test_the_first_difference_of_two_values_is_told_by_its_pointer(
    one: JsonValue, other: JsonValue, at: str | None
) -> None:
    assert first_difference(one, other) == first_difference(other, one) == at


def test_effects_differ_in_facts_changes_state_and_answer() -> None:
    plain = Effects(facts=frozenset({"a"}), changes=frozenset({("p/x", "added", "tool")}), state={"n": 1}, answer=None)
    assert plain.unlike(copy.deepcopy(plain)) is None
    for changed, words in (
        ({"facts": frozenset()}, "the facts are none, and not a"),
        ({"changes": frozenset()}, "other changes of the workspace: p/x"),
        ({"state": {"n": 2}}, "what the control plane holds differs at /n"),
        ({"answer": "x"}, "the answer differs at /"),
    ):
        values = {name: getattr(plain, name) for name in ("facts", "changes", "state", "answer")}
        assert Effects(**{**values, **changed}).unlike(plain) == words


def test_what_is_asked_side_by_side_comes_in_order_and_ends_with_the_first_error() -> None:
    assert list(side_by_side(lambda n: n * 2, range(20), jobs=4)) == list(range(0, 40, 2))

    def picky(number: int) -> int:
        if number == 3:
            raise UsageError("no")
        return number

    answers = side_by_side(picky, range(1000), jobs=2)
    assert [next(answers) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(UsageError):
        next(answers)


DONE = Outcome(status="completed", reason="final_response")
RAN = Step(ordinal=1, turn=1, tool=shown_name("exec", {"exec"}), kind=None, result="succeeded", executed=True)
OUTSIDE = TraceChange(path="project/x", change="added", by="tool", allowed=False)


@pytest.mark.parametrize(
    ("verdict", "more", "changes", "complaint"),
    [
        ("fail", {"failure_code": "stopped"}, (), None),
        ("fail", {"failure_code": "no_progress"}, (), None),
        ("not_judged", {"cause": "scenario"}, (), None),
        ("fail", {"failure_code": "made_up"}, (), "it fails with a code that nobody declares: made_up"),
        ("not_judged", {"cause": "harness"}, (), "the harness fails: not_judged, completed/final_response"),
        ("fail", {"failure_code": "stopped", "steps": (RAN,)}, (), "a call runs that no rule names"),
        ("fail", {"failure_code": "stopped"}, (OUTSIDE,), "it changes what the scenario does not allow: project/x"),
        ("pass", {"facts": ("seen",)}, (), None),
        ("pass", {"facts": ()}, (), "it passes by accident: the facts are none, and not seen"),
    ],
)
def test_what_a_walk_looks_for(
    verdict: Verdict, more: dict[str, object], changes: tuple[TraceChange, ...], complaint: str | None
) -> None:
    job = job_of("pack/a")
    trace = EpisodeTrace(bound=job.loaded.scenario, requests=(), steps=(), files={}, changes=changes)
    right = Effects(facts=frozenset({"seen"}), changes=frozenset(), state=None, answer=None)
    played = Played("walk", result_of(job, verdict, DONE, **more), trace)
    assert _complaint(job.loaded.scenario, played, [right]) == complaint


def test_a_variant_of_a_file_need_not_use_the_waivers_of_the_whole_file() -> None:
    def change(data: dict[str, JsonValue]) -> None:
        waive(data, "drop 1", "swap 1", "drop 2", what="code odd")
        data["id"] = "pack/small-variant"

    assert told(check(change, deep=MUTANTS)) == []
