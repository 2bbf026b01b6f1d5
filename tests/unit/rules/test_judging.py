from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from harness.rules import RuleState, judge
from harness.schema.base import JsonValue
from harness.schema.finding import Judgement
from harness.schema.observation import Observation, ReadObservation
from harness.schema.rules import KindSpec
from harness.schema.scenario import Scenario

Build = Callable[[Mapping[str, object]], Scenario]
Find = Callable[[Scenario, str], KindSpec]

CALL: dict[str, JsonValue] = {"name": "ask", "word": "ask", "failed": "ask_failed", "sets": "asked"}
READ: dict[str, JsonValue] = {"name": "proof", "read": "content", "failed": "proof_failed", "sets": "proven"}
FILE = '{"lane": "one", "n": 1}'


ERRORS: list[JsonValue] = [{"where": {"/kind": "busy"}, "class": "recoverable", "code": "busy"}]


def told(
    scenario: Scenario, kind: KindSpec, seen: Observation, *, before: int = 0, text: str | None = FILE
) -> Judgement:
    def file(path: str) -> str | None:
        assert path == "project/proof.json"
        return text

    state = RuleState(frozenset(), {kind.name: before})
    return judge(scenario, state, kind, seen, file=file, kind_of=lambda command: command.split()[0])


def answered(answer: dict[str, JsonValue] | None, *, ok: bool = True, exit_code: int = 0) -> Observation:
    return Observation(ran=True, ok=ok, text="", exit_code=exit_code, answer=answer)


def read(*texts: str | None, ok: bool = True, target: str = "project/proof.json") -> Observation:
    """A result of reads of one file; None for a read that was skipped."""
    reads = tuple(
        ReadObservation(target=target, role="content", ran=text is not None, exit_code=0, text=text or "")
        for text in texts
    )
    return Observation(ran=True, ok=ok, text="", exit_code=0 if ok else 1, reads=reads)


@pytest.mark.parametrize(
    ("seen", "expected", "got"),
    [
        (Observation(ran=False, ok=False, text="", refused="unknown_option"), "run", "unknown_option"),
        (Observation(ran=True, ok=False, text="", timed_out=True), 0, "timed out"),
        (answered({"a": 1}, ok=False, exit_code=3), 0, 3),
    ],
)
def test_call_that_did_not_end_well_fails_with_the_reason(
    build: Build, kind: Find, seen: Observation, expected: JsonValue, got: JsonValue
) -> None:
    scenario = build({"kind": [CALL], "check": [{"kind": "ask", "answer": {"/a": 2}}]})
    judgement = told(scenario, kind(scenario, "ask"), seen)
    (finding,) = judgement.findings
    assert judgement.code == finding.code == "ask_failed"
    assert judgement.sets == ()
    assert (finding.check, finding.expected, finding.got, finding.missing) == ("execution", expected, got, False)


def test_call_that_printed_no_json_object_fails(build: Build, kind: Find) -> None:
    scenario = build({"kind": [CALL]})
    judgement = told(scenario, kind(scenario, "ask"), answered(None))
    assert judgement.code == "ask_failed"
    assert judgement.findings[0].missing


def test_read_needs_no_json_answer(build: Build, kind: Find) -> None:
    scenario = build({"kind": [READ]})
    assert told(scenario, kind(scenario, "proof"), read("anything")) == Judgement(sets=("proven",))


def test_kind_without_failed_goes_on_and_sets_nothing_when_its_call_fails(build: Build, kind: Find) -> None:
    scenario = build({"kind": [{"name": "ask", "word": "ask", "sets": "asked"}]})
    found = kind(scenario, "ask")
    assert told(scenario, found, answered(None)) == Judgement()
    assert told(scenario, found, answered({}, ok=False, exit_code=1)) == Judgement()
    assert told(scenario, found, answered({})) == Judgement(sets=("asked",))


def test_kind_that_sets_nothing_holds_without_facts(build: Build, kind: Find) -> None:
    scenario = build({"kind": [{"name": "clock", "read": "clock"}]})
    assert told(scenario, kind(scenario, "clock"), Observation(ran=True, ok=True, text="now")) == Judgement()


def test_all_answer_checks_are_collected_and_the_first_gives_the_code(build: Build, kind: Find) -> None:
    answer = {"/a": 1, "/b": {"equals": 2, "code": "wrong_b"}, "/c": {"absent": True}, "/d": 4}
    scenario = build({"kind": [CALL], "check": [{"kind": "ask", "answer": answer}]})
    judgement = told(scenario, kind(scenario, "ask"), answered({"a": 1, "b": 0, "c": None}))
    assert judgement.code == "wrong_b"
    assert [(one.code, one.check, one.pointer, one.got, one.missing) for one in judgement.findings] == [
        ("wrong_b", "answer", "/b", 0, False),
        ("ask_failed", "answer", "/c", None, False),
        ("ask_failed", "answer", "/d", None, True),
    ]


def test_check_of_an_occurrence_is_held_against_that_result_only(build: Build, kind: Find) -> None:
    checks = [
        {"kind": "ask", "occurrence": 1, "answer": {"/n": 1}},
        {"kind": "ask", "occurrence": 2, "answer": {"/n": 2}},
        {"kind": "ask", "answer": {"/ok": True}},
        {"kind": "other", "answer": {"/never": 1}},
    ]
    scenario = build({"kind": [CALL], "check": checks})
    found = kind(scenario, "ask")
    assert told(scenario, found, answered({"n": 1, "ok": True}), before=0).code is None
    assert told(scenario, found, answered({"n": 1, "ok": True}), before=1).code == "ask_failed"
    assert told(scenario, found, answered({"n": 2, "ok": True}), before=1).code is None
    assert told(scenario, found, answered({"n": 9, "ok": True}), before=2).code is None
    assert told(scenario, found, answered({"n": 9, "ok": False}), before=2).code == "ask_failed"


def test_commands_of_an_answer_are_counted_by_kind(build: Build, kind: Find) -> None:
    scenario = build({"kind": [CALL], "check": [{"kind": "ask", "answer": {"/next": {"commands": {"ask": 1}}}}]})
    found = kind(scenario, "ask")
    assert told(scenario, found, answered({"next": ["ask me", "tell me"]})).code is None
    assert told(scenario, found, answered({"next": ["ask me", "ask you"]})).findings[0].got == 2


def test_kind_name_is_the_code_when_a_scenario_made_in_python_gives_none(build: Build, kind: Find) -> None:
    scenario = build({"kind": [{"name": "ask", "word": "ask"}], "check": [{"kind": "ask", "answer": {"/a": 1}}]})
    assert told(scenario, kind(scenario, "ask"), answered({})).code == "ask"


@pytest.mark.parametrize(
    ("reads", "texts", "shown"),
    [
        ("any", (FILE,), True),
        ("all", (FILE,), True),
        ("any", ('{ "n": 1.0,\n "lane": "one" }\n',), True),
        ("any", (FILE, None), True),
        ("all", (FILE, None), False),
        ("all", (FILE, FILE), True),
        ("any", (FILE, '{"lane": "two"}'), False),
        ("any", ('{"lane": "one", "n": true}',), False),
        ("any", (None,), False),
        ("all", (None,), False),
        ("any", (), False),
        ("all", (), False),
        ("any", ("",), False),
        ("any", ('{"lane": "one"',), False),
        ("any", ("[" * 200_000,), False),
    ],
)
def test_file_is_shown_by_reads_that_ran_and_printed_its_json(
    build: Build, kind: Find, reads: str, texts: tuple[str | None, ...], shown: bool
) -> None:
    shows: JsonValue = {"file": "project/proof.json", "reads": reads}
    scenario = build({"kind": [READ], "check": [{"kind": "proof", "shows": shows}]})
    judgement = told(scenario, kind(scenario, "proof"), read(*texts))
    assert judgement.code == (None if shown else "proof_failed")
    assert judgement.sets == (("proven",) if shown else ())
    assert {finding.check for finding in judgement.findings} == (set() if shown else {"content"})


def test_read_of_another_file_proves_nothing(build: Build, kind: Find) -> None:
    shows: JsonValue = {"file": "project/proof.json", "reads": "any"}
    scenario = build({"kind": [READ], "check": [{"kind": "proof", "shows": shows}]})
    seen = read(FILE, target="project/other.json")
    assert told(scenario, kind(scenario, "proof"), seen).code == "proof_failed"


@pytest.mark.parametrize("text", [None, "no json"])
def test_nothing_shows_a_file_that_is_gone_or_no_json(build: Build, kind: Find, text: str | None) -> None:
    shows: JsonValue = {"file": "project/proof.json", "reads": "any"}
    scenario = build({"kind": [READ], "check": [{"kind": "proof", "shows": shows}]})
    assert told(scenario, kind(scenario, "proof"), read("no json"), text=text).code == "proof_failed"


def test_read_that_did_not_end_well_fails_even_if_it_showed_the_file(build: Build, kind: Find) -> None:
    shows: JsonValue = {"file": "project/proof.json", "reads": "any"}
    scenario = build({"kind": [READ], "check": [{"kind": "proof", "shows": shows}]})
    judgement = told(scenario, kind(scenario, "proof"), read(FILE, ok=False))
    assert [finding.check for finding in judgement.findings] == ["execution"]


def test_proof_by_content_comes_before_answer_checks(build: Build, kind: Find) -> None:
    shows: JsonValue = {"file": "project/proof.json", "reads": "any"}
    checks = [{"kind": "proof", "answer": {"/a": {"equals": 1, "code": "wrong_a"}}}, {"kind": "proof", "shows": shows}]
    scenario = build({"kind": [READ], "check": checks})
    judgement = told(scenario, kind(scenario, "proof"), read("{}"))
    assert judgement.code == "proof_failed"
    assert [finding.check for finding in judgement.findings] == ["content", "answer"]


def test_a_result_that_the_scenario_typed_as_an_error_sets_nothing_and_breaks_nothing(build: Build, kind: Find) -> None:
    scenario = build({"kind": [{**CALL, "errors": ERRORS}], "check": [{"kind": "ask", "answer": {"/kind": "fine"}}]})
    for ok in (True, False):
        assert told(scenario, kind(scenario, "ask"), answered({"kind": "busy"}, ok=ok)) == Judgement()
    assert told(scenario, kind(scenario, "ask"), answered({"kind": "other"})).code == "ask_failed"
    assert told(scenario, kind(scenario, "ask"), answered({"kind": "fine"})).sets == ("asked",)
