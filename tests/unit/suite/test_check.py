"""A scenario is checked by its own scripts: what is demanded of it, and what each demand says."""

from __future__ import annotations

import json

import pytest
from small_world import FILE, MUTATIONS, SMALL, check, part, told

from harness import rules
from harness.redaction import value as shown
from harness.schema.base import JsonValue
from harness.schema.classifier import Evidence, ReceivedCall
from harness.schema.outcome import Outcome
from harness.schema.receipt import Finding
from harness.schema.scenario import Scenario
from harness.schema.trace import EpisodeTrace
from harness.suite import script_actor
from harness.suite.probe import probe


def test_a_sound_scenario_has_no_finding_and_every_mutation_is_red() -> None:
    report = check()

    assert told(report) == []
    assert (report.scripts, report.mutations, report.red) == (10, 2 * MUTATIONS, 2 * MUTATIONS)
    assert [(one.reached, one.total) for one in (report.kinds, report.facts, report.codes)] == [
        (2, 2),
        (2, 2),
        (7, 7),
    ]


def test_a_reference_that_does_not_pass_is_told_with_its_code() -> None:
    report = check(lambda data: part(data, "script").update(reference=["look"]))

    assert told(report) == ["script reference: should pass, but: fail, looked_first"]


def test_why_a_script_does_not_pass_is_told_as_far_as_its_receipt_may() -> None:
    finding = Finding(
        code="ask_failed",
        check="answer",
        pointer="/mode",
        expected=shown("repair", frozenset({"repair"})),
        got=shown(7, frozenset()),
    )

    report = check(lambda data: part(data, "script").update(reference=["look"]), (finding,), "the plane was slow")

    assert told(report) == [
        (
            "script reference: should pass, but: fail, looked_first, the answer at /mode, "
            'expected "repair", got 7, the plane was slow'
        )
    ]


def test_without_a_passing_script_no_answer_is_called_untried() -> None:
    report = check(lambda data: part(data, "script").update(reference=["look"], right={}))

    assert not any("never looked at" in line for line in told(report))
    assert report.mutations == 0


def test_a_right_script_that_does_not_pass_is_told() -> None:
    report = check(lambda data: part(data, "script", "right").update(hasty=["ask"]))

    assert told(report) == ["script hasty: should pass, but: fail, stopped"]


def test_a_wrong_script_with_another_code_is_told() -> None:
    report = check(lambda data: part(data, "script", "wrong").update(odd=["look"]))

    assert told(report) == [
        "wrong script odd: should fail with the code it is named by, but: fail, looked_first",
        "code odd: no script reaches it",
    ]


def test_a_wrong_script_that_passes_is_told() -> None:
    report = check(lambda data: part(data, "script", "wrong").update(odd=["ask", "look"]))

    assert "wrong script odd: should fail with the code it is named by, but: pass, completed/final_response" in told(
        report
    )


def test_an_unreached_kind_fact_and_code_are_told() -> None:
    def add(data: dict[str, JsonValue]) -> None:
        kinds = data["kind"]
        assert isinstance(kinds, list)
        kinds.append({"name": "listen", "read": "metadata", "never": {"seen": "too_late"}, "sets": "heard"})

    assert told(check(add)) == [
        "kind listen: no script reaches it",
        "fact heard: no script reaches it",
        "code too_late: no script reaches it",
    ]


def test_an_idle_actor_that_passes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "silence", lambda *_: None)

    report = check(lambda data: part(data, "script", "wrong").pop("stopped"))

    assert [line for line in told(report) if line.startswith("idle actor")] == [
        f"idle actor {name}: an actor that does nothing should fail, but: pass, completed/final_response"
        for name in ("nothing-at-all", "prose-only")
    ]


def test_a_check_that_nothing_can_break_stays_green_and_is_told() -> None:
    report = check(lambda data: part(data, "check", 0, "answer").update({"/again": {"same_as": "/again"}}))

    assert told(report)[0] == (
        "script reference, step 1, kind ask: answer check /again stays green with the stored answer changed "
        "(another value)"
    )
    # removed is red, two others are not; in the reference and in the right script
    assert report.mutations - report.red == 4


def test_another_checks_finding_does_not_hide_a_blind_one() -> None:
    """``/mode`` is looked at twice; the one that looks for an empty text in it would never notice a thing."""
    report = check(lambda data: part(data, "check", 0, "answer").update({"/mode": {"contains": ""}}))

    assert any("answer check /mode stays green" in line for line in told(report))


def test_a_check_that_no_passing_script_gets_to_is_told() -> None:
    def add(data: dict[str, JsonValue]) -> None:
        checks = data["check"]
        assert isinstance(checks, list)
        checks.append({"kind": "ask", "occurrence": 2, "answer": {"/mode": "repair"}})
        checks.append({"kind": "look", "occurrence": 2, "shows": {"file": FILE, "reads": "any"}})

    assert told(check(add)) == [
        "check of ask: answer check /mode is never looked at in a passing script",
        "check of look: read proof is never looked at in a passing script",
    ]


def test_a_checks_own_code_is_reached_by_mutation_alone() -> None:
    """No script can make the plane answer wrongly; ``nothing_on_offer`` is nevertheless one of the codes reached."""
    assert "nothing_on_offer" in Scenario.model_validate_json(json.dumps(SMALL)).codes
    assert check().codes.reached == check().codes.total


def test_a_kinds_own_code_is_not_reached_by_mutation() -> None:
    report = check(lambda data: part(data, "script", "wrong").pop("ask_failed"))

    assert told(report) == ["code ask_failed: no script reaches it"]


def test_the_code_of_a_call_of_no_kind_cannot_be_removed_and_nobody_is_told_to() -> None:
    unexpected = Scenario.model_validate_json(json.dumps(SMALL)).end.unexpected

    def drop(data: dict[str, JsonValue]) -> None:
        part(data, "script", "wrong").pop(unexpected)
        part(data, "script", "wrong").pop("ask_failed")

    todos = {finding.where: finding.todo for finding in check(drop).findings}
    assert todos[f"code {unexpected}"].startswith("add a script with a call of no kind; ")
    assert todos["code ask_failed"] == "add a script that reaches it, or remove it"


def test_a_scripts_digest_covers_what_it_says_and_not_its_name() -> None:
    one, same, other = script_actor("a", ("ask",)), script_actor("b", ("ask",)), script_actor("a", ("look",))

    assert one.identity.digest == same.identity.digest != other.identity.digest
    assert (one.identity.ref, one.identity.kind, one.script) == ("a", "script", ("ask",))


def test_a_world_that_cannot_be_made_is_the_one_finding() -> None:
    """Everything else would only follow from it, and send people to the wrong place."""
    rejected = Outcome(status="rejected", reason="setup_rejected")
    report = check(outcome=rejected, problem="prompt.user: late.heartbeat has no value: it ended with exit code 2")
    assert [finding.what for finding in report.findings] == [
        "its world cannot be made: prompt.user: late.heartbeat has no value: it ended with exit code 2"
    ]
    assert report.scripts == 1


def checked_end(data: dict[str, JsonValue], **holds: JsonValue) -> None:
    part(data, "end").update(check=[{"code": "false_claim", "holds": {"/answer/n": {"same_as": "/state/n"}, **holds}}])
    scripts = part(data, "script")
    scripts.update(reference=["ask", "look", {"content": '{"n": 2}'}], right={})
    part(scripts, "wrong").update(false_claim=["ask", "look", {"content": '{"n": 3}'}])


def test_checks_of_the_end_are_mutated_as_well() -> None:
    report = check(checked_end)

    assert told(report) == []
    assert (report.mutations, report.red) == (MUTATIONS + 3, MUTATIONS + 3)


def test_a_check_of_the_end_that_nothing_can_break_is_told() -> None:
    itself: dict[str, JsonValue] = {"/state/n": {"same_as": "/state/n"}}
    report = check(lambda data: checked_end(data, **itself))

    assert told(report) == [
        f"script reference, code false_claim: the end's check /state/n stays green with what the episode ended with "
        f"changed ({what})"
        for what in ("another value", "another type")
    ]


def test_a_script_that_passes_before_its_end_is_told() -> None:
    report = check(lambda data: part(data, "script", "right").update(eager=["ask", "look", "look"]))

    assert told(report) == ["script eager: passes before its end: 1 answer of it nobody asked for"]


@pytest.mark.parametrize("looks", [True, False])
def test_a_code_for_a_log_that_lies_is_reached_by_one_that_lies(looks: bool) -> None:
    scenario = Scenario.model_validate_json(json.dumps(SMALL))
    whole = Evidence(
        outcome=Outcome(status="completed", reason="final_response"),
        received=(ReceivedCall(operation="a", arguments={}), ReceivedCall(operation="b", arguments={})),
    )

    def judged(evidence: Evidence) -> frozenset[str]:
        return frozenset({"as_always", "log_lies"} if looks and evidence != whole else {"as_always"})

    trace = EpisodeTrace(bound=scenario, requests=(), steps=(), files={}, evidence=whole, judged=judged)
    found = probe({"reference": trace})
    assert (found.mutations, found.red, found.codes) == ((5, 5, {"log_lies"}) if looks else (0, 0, set()))


def test_without_a_log_nothing_of_it_is_changed() -> None:
    scenario = Scenario.model_validate_json(json.dumps(SMALL))
    empty = Evidence(outcome=Outcome(status="completed", reason="final_response"), received=())
    trace = EpisodeTrace(
        bound=scenario, requests=(), steps=(), files={}, evidence=empty, judged=lambda _: frozenset({"seen"})
    )
    assert probe({"reference": trace}).mutations == 0
