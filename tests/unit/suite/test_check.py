"""A world small enough to be played in memory: a command is the name of its kind, ``!`` makes it fail."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from harness import rules
from harness.redaction import name as tool_name
from harness.redaction import value as shown
from harness.schema.actor import ActorSpec
from harness.schema.base import JsonValue, digest_json
from harness.schema.check import CheckReport
from harness.schema.classifier import Evidence, ReceivedCall
from harness.schema.observation import Observation, ReadObservation
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, Counters, Finding, Receipt, Step
from harness.schema.run import EpisodeResult, RunLogEntry
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.script import Script
from harness.schema.trace import EpisodeTrace, TraceStep
from harness.suite import check_scenario, script_actor
from harness.suite.probe import probe

FILE = "project/target.json"
TEXT = '{"lane": 1}'
ANSWER: dict[str, JsonValue] = {
    "mode": "repair",
    "ready": False,
    "count": 1,
    "note": None,
    "missing": ["private"],
    "left": [],
    "target": {"names": ["a"]},
    "again": "a",
    "next": ["look"],
}
SMALL: dict[str, JsonValue] = {
    "schema": 1,
    "id": "pack/small",
    "asks": "Ask, then look.",
    "plane": "plane==1",
    "workspace": {"roots": ["project"]},
    "prompt": {"user": "Go."},
    "tool": {"exec": {"about": "Run.", "argument": "cmd", "grammar": "g", "content": [FILE]}},
    "kind": [
        {"name": "ask", "call": ["ask now"], "once": "asked_twice", "failed": "ask_failed", "sets": "informed"},
        {
            "name": "look",
            "read": "content",
            "needs": {"informed": "looked_first"},
            "failed": "look_failed",
            "sets": "seen",
        },
    ],
    "end": {"accept": ["seen"], "silence": [{"code": "stopped"}], "unexpected": "odd"},
    "check": [
        {
            "kind": "ask",
            "answer": {
                "/mode": "repair",
                "/ready": False,
                "/count": 1,
                "/note": None,
                "/missing": {"contains": "private"},
                "/left": {"empty": True},
                "/target/names/0": {"same_as": "/again"},
                "/gone/deeper": {"absent": True},
                "/next": {"commands": {"look": 1}, "none_contains": "todo", "code": "nothing_on_offer"},
            },
        },
        {"kind": "look", "shows": {"file": FILE, "reads": "all"}},
    ],
    "script": {
        "reference": ["ask", "look"],
        "right": {"patient": ["ask", "look"]},
        "wrong": {
            "asked_twice": ["ask", "ask"],
            "looked_first": ["look"],
            "odd": ["sing"],
            "stopped": [{"content": "Done."}],
            "ask_failed": ["ask!"],
            "look_failed": ["ask", "look!"],
        },
    },
}
#: removed, another value, another type for seven values (null has no other value), two for the absent one, five for
#: the commands; the two reads each show two other things or do not run, and none runs: 7 more.
MUTATIONS = 7 * 3 - 1 + 2 + 5 + 7


@dataclass
class World:
    """One episode: the rules decide, nothing is run."""

    scenario: Scenario
    facts: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    kinds: list[str | None] = field(default_factory=list)
    seen: list[TraceStep] = field(default_factory=list)
    code: str | None = None
    ending: dict[str, JsonValue] | None = None

    def play(self, script: Script) -> None:
        for action in script:
            if not isinstance(action, str):
                self.code = rules.silence(self.scenario, self.facts)
                if rules.accepts(self.scenario, self.facts):
                    self.ending = {"answer": json.loads(action.content or ""), "state": {"n": 2}}
                    self.code = next((one.code for one in rules.ending_findings(self.scenario, self.ending)), None)
                return
            self.call(action)
            if self.code is not None or rules.satisfies(self.scenario, self.facts):
                return
        self.code = "ran_out"

    def call(self, command: str) -> None:
        kind = {kind.name: kind for kind in self.scenario.kind}.get(command.removesuffix("!"))
        state = rules.RuleState(facts=frozenset(self.facts), counts=dict(self.counts))
        proposal = rules.propose(self.scenario, state, kind)
        self.code, observation, judgement = proposal.code, None, None
        if proposal.code is None and kind is not None:
            observation = observe(command)
            judgement = rules.judge(
                self.scenario, state, kind, observation, file={FILE: TEXT}.get, kind_of={"look": "look"}.get
            )
            self.code = judgement.code
            self.counts[kind.name] = self.counts.get(kind.name, 0) + 1
            self.facts.update(judgement.sets)
        self.kinds.append(proposal.kind)
        self.seen.append(
            TraceStep(
                command=command,
                facts=tuple(sorted(state.facts)),
                counts=dict(state.counts),
                proposal=proposal,
                observation=observation,
                judgement=judgement,
            )
        )


def observe(command: str) -> Observation:
    ok = not command.endswith("!")
    if command.startswith("ask"):
        return Observation(ran=True, ok=ok, text="", exit_code=0 if ok else 1, answer=ANSWER if ok else None)
    read = ReadObservation(target=FILE, role="content", ran=True, exit_code=0, text=TEXT)
    return Observation(ran=True, ok=ok, text=TEXT, exit_code=0 if ok else 1, reads=(read, read))


def receipt_of(loaded: LoadedScenario, actor: ActorSpec, world: World) -> Receipt:
    return Receipt(
        scenario=loaded.scenario.id,
        scenario_digest=loaded.digest,
        definition_digest=None,
        classifier_version=1,
        actor=actor.identity,
        plane=PlaneIdentity(name="plane", version="1", wheel_sha256="ab"),
        trial=1,
        attempt=1,
        outcome=Outcome(status="completed", reason="final_response"),
        verdict="pass" if world.code is None else "fail",
        cause=None,
        failure_code=world.code,
        findings=(),
        facts=tuple(sorted(world.facts)),
        steps=tuple(
            Step(ordinal=n, turn=n, tool=tool_name("exec", {"exec"}), kind=kind, result="succeeded", executed=True)
            for n, kind in enumerate(world.kinds, 1)
        ),
        turns=(),
        counters=Counters(model_turns=0, tool_calls=0, executed_calls=0, refused_calls=0),
        boundary=Boundary(measured=False),
    )


def check(
    change: Callable[[dict[str, JsonValue]], object] = lambda _: None,
    findings: tuple[Finding, ...] = (),
    problem: str | None = None,
    outcome: Outcome = Outcome(status="completed", reason="final_response"),  # noqa: B008  (frozen)
) -> CheckReport:
    data = copy.deepcopy(SMALL)
    change(data)
    scenario = Scenario.model_validate_json(json.dumps(data))
    loaded = LoadedScenario(scenario=scenario, digest=digest_json(data), path="pack/small.toml")

    def trace(actor: ActorSpec) -> tuple[EpisodeResult, EpisodeTrace]:
        world = World(scenario)
        world.play(actor.script or ())
        receipt = receipt_of(loaded, actor, world).model_copy(update={"findings": findings, "outcome": outcome})
        log = RunLogEntry(
            key=receipt.key, started_at="2026-01-01T00:00:00Z", seconds=0.0, executor="warm", problem=problem
        )
        seen = EpisodeTrace(
            bound=scenario,
            requests=(),
            steps=tuple(world.seen),
            files={FILE: TEXT},
            kinds_of={"look": "look"},
            ending=world.ending,
        )
        return EpisodeResult(receipt=receipt, log=log), seen

    return check_scenario(loaded, trace=trace)


def part(data: JsonValue, *path: str | int) -> dict[str, JsonValue]:
    for token in path:
        if isinstance(data, dict):
            data = data[str(token)]
        elif isinstance(data, list):
            data = data[int(token)]
    assert isinstance(data, dict)
    return data


def told(report: CheckReport) -> list[str]:
    return [f"{finding.where}: {finding.what}" for finding in report.findings]


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

    assert told(report) == ["script hasty: should pass, but: fail, ran_out"]


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
        "kind ask: answer check /mode is never looked at in a passing script",
        "kind look: read proof is never looked at in a passing script",
    ]


def test_a_checks_own_code_is_reached_by_mutation_alone() -> None:
    """No script can make the plane answer wrongly; ``nothing_on_offer`` is nevertheless one of the codes reached."""
    assert "nothing_on_offer" in Scenario.model_validate_json(json.dumps(SMALL)).codes
    assert check().codes.reached == check().codes.total


def test_a_kinds_own_code_is_not_reached_by_mutation() -> None:
    report = check(lambda data: part(data, "script", "wrong").pop("ask_failed"))

    assert told(report) == ["code ask_failed: no script reaches it"]


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
