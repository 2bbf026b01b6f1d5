"""A world small enough to be played in memory: a command is the name of its kind, ``!`` makes it fail."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from harness import rules
from harness.redaction import name as tool_name
from harness.schema.actor import ActorSpec
from harness.schema.base import JsonValue, digest_json
from harness.schema.check import CheckReport
from harness.schema.observation import Observation, ReadObservation
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, Counters, Finding, Receipt, Step
from harness.schema.run import EpisodeResult, RunLogEntry
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.script import Script
from harness.schema.trace import EpisodeTrace, TraceStep
from harness.suite import Deep, check_scenario

__all__ = ["ANSWER", "FILE", "MUTATIONS", "SMALL", "World", "check", "part", "told"]

NOT_DEEP = Deep()
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
    ran: list[bool] = field(default_factory=list)
    seen: list[TraceStep] = field(default_factory=list)
    code: str | None = None
    ending: dict[str, JsonValue] | None = None
    turns: int = 0

    @property
    def there(self) -> bool:
        """Whether the file is in the workspace; where none is declared it is."""
        files = self.scenario.workspace.file
        return not files or any(FILE in file.at for file in files)

    def play(self, script: Script) -> None:
        """To its end."""
        for action in script:
            self.turns += 1
            if not isinstance(action, str):
                self.code = rules.silence(self.scenario, self.facts)
                if rules.accepts(self.scenario, self.facts):
                    self.ending = {"answer": json.loads(action.content or ""), "state": {"n": 2}}
                    self.code = next((one.code for one in rules.ending_findings(self.scenario, self.ending)), None)
                return
            self.call(action)
            if self.code is not None or rules.satisfies(self.scenario, self.facts):
                return
        self.code = rules.silence(self.scenario, self.facts)

    def call(self, command: str) -> None:
        """One command."""
        kind = {kind.name: kind for kind in self.scenario.kind}.get(command.removesuffix("!"))
        state = rules.RuleState(facts=frozenset(self.facts), counts=dict(self.counts))
        proposal = rules.propose(self.scenario, state, kind)
        self.code, observation, judgement = proposal.code, None, None
        if proposal.code is None and kind is not None:
            observation = observe(command, there=self.there)
            judgement = rules.judge(
                self.scenario, state, kind, observation, file={FILE: TEXT}.get, kind_of={"look": "look"}.get
            )
            self.code = judgement.code
            self.counts[kind.name] = self.counts.get(kind.name, 0) + 1
            self.facts.update(judgement.sets)
        self.kinds.append(proposal.kind)
        self.ran.append(observation is not None)
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


def observe(command: str, *, there: bool) -> Observation:
    """What a command comes to."""
    ok = not command.endswith("!") and (there or command.startswith("ask"))
    if command.startswith("ask"):
        return Observation(ran=True, ok=ok, text="", exit_code=0 if ok else 1, answer=ANSWER if ok else None)
    read = ReadObservation(target=FILE, role="content", ran=True, exit_code=0, text=TEXT)
    return Observation(ran=True, ok=ok, text=TEXT, exit_code=0 if ok else 1, reads=(read, read))


def _receipt_of(loaded: LoadedScenario, actor: ActorSpec, world: World) -> Receipt:
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
            Step(ordinal=n, turn=n, tool=tool_name("exec", {"exec"}), kind=kind, result="succeeded", executed=ran)
            for n, (kind, ran) in enumerate(zip(world.kinds, world.ran, strict=True), 1)
        ),
        turns=(),
        counters=Counters(model_turns=world.turns, tool_calls=0, executed_calls=0, refused_calls=0),
        boundary=Boundary(measured=False),
    )


def check(
    change: Callable[[dict[str, JsonValue]], object] = lambda _: None,
    findings: tuple[Finding, ...] = (),
    problem: str | None = None,
    outcome: Outcome = Outcome(status="completed", reason="final_response"),  # noqa: B008  (frozen)
    deep: Deep = NOT_DEEP,
) -> CheckReport:
    """What the check says of the small scenario with a change in it."""
    data = copy.deepcopy(SMALL)
    change(data)
    scenario = Scenario.model_validate_json(json.dumps(data))
    loaded = LoadedScenario(scenario=scenario, digest=digest_json(data), path="pack/small.toml")

    def play(played: LoadedScenario, actor: ActorSpec) -> tuple[EpisodeResult, EpisodeTrace]:
        world = World(played.scenario)
        world.play(actor.script or ())
        receipt = _receipt_of(loaded, actor, world).model_copy(update={"findings": findings, "outcome": outcome})
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

    return check_scenario(loaded, play=play, deep=deep)


def part(data: JsonValue, *path: str | int) -> dict[str, JsonValue]:
    """The table at a path."""
    for token in path:
        if isinstance(data, dict):
            data = data[str(token)]
        elif isinstance(data, list):
            data = data[int(token)]
    assert isinstance(data, dict)
    return data


def told(report: CheckReport) -> list[str]:
    """The findings, one line each."""
    return [f"{finding.where}: {finding.what}" for finding in report.findings]
