"""Runs of any size that nobody played: scenarios x actors x trials, with receipts and log rows as live models leave.

The same numbers and the same seed make the same run. Models differ in how often they pass, in price and in speed;
scenarios in how hard they are. A failure breaks a rule at a step, stops too early, or fails an answer; a few trials
are not judged, for the provider failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from random import Random

from harness import redaction
from harness.receipt import RunStore, last_attempts
from harness.redaction import SecretGuard
from harness.schema.actor import ActorIdentity
from harness.schema.base import digest_text
from harness.schema.command import CommandShape
from harness.schema.graph import GraphEdge, GraphNode, RuleGraph
from harness.schema.message import Usage
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, Counters, Finding, Receipt, Step, TurnSummary
from harness.schema.run import (
    AttemptRow,
    Enforcement,
    EpisodeResult,
    Manifest,
    PlannedEpisode,
    RunLogEntry,
    RunView,
    ScenarioSummary,
)
from harness.schema.verdict import Cause, Verdict

__all__ = ["MODELS", "Model", "Synthetic"]

KINDS = ("quota_should_run", "todo_claim", "source_read", "capability_callsite", "quota_reentry", "refresh_state")
FACTS = ("informed", "claimed", "inspected", "verified", "reentered", "delivered")
_WAYS = ("order", "order", "silence", "answer")
_TOOL = redaction.name("exec_command", {"exec_command"})
_SHAPE = CommandShape(
    parseable=True,
    tokens=8,
    family="call",
    segments=1,
    multiline=False,
    pipe=False,
    redirect=False,
    conditional=False,
    expansion=False,
    names_content_target=False,
)


@dataclass(frozen=True)
class Model:
    """An actor that nobody has: how often it passes a scenario of average hardness, US cents and seconds an episode."""

    name: str
    passes: float
    cents: float
    seconds: float

    @property
    def identity(self) -> ActorIdentity:
        """As receipts name it."""
        provider, _, model = self.name.partition("/")
        return ActorIdentity(
            ref=self.name, kind="live", provider=provider, model=model, digest=digest_text(f"model {self.name}")
        )


MODELS = (
    Model("ark/doubao-seed-2", 0.91, 0.8, 14.0),
    Model("openai/large", 0.96, 4.1, 21.0),
    Model("openai/small", 0.78, 0.3, 8.0),
    Model("anthropic/middle", 0.88, 2.2, 16.0),
)


@dataclass(frozen=True)
class Synthetic:
    """What is made: ``trials`` of every scenario by every model on every version of the control plane, in plan order.

    ``cut`` of all, from 0 to 1, were not judged; every tenth of them was tried again. ``run_id`` names the run.
    """

    trials: int
    scenarios: int = 10
    models: Sequence[Model] = MODELS
    versions: Sequence[str] = ("0.4.8",)
    seed: int = 1
    cut: float = 0.01
    run_id: str = "20260101T000000Z-synthetic"
    created_at: str = "2026-01-01T00:00:00Z"

    @property
    def size(self) -> int:
        """Places of the plan."""
        return self.trials * self.scenarios * len(self.models) * len(self.versions)

    @property
    def planes(self) -> tuple[PlaneIdentity, ...]:
        """The versions of the control plane."""
        return tuple(
            PlaneIdentity(name="loopx", version=version, wheel_sha256=sha256(version.encode()).hexdigest())
            for version in self.versions
        )

    def results(self) -> list[tuple[int, EpisodeResult]]:
        """Every attempt with its place in the plan, in plan order."""
        random = Random(self.seed)  # noqa: S311  (nothing is to be kept secret)
        made: list[tuple[int, EpisodeResult]] = []
        places = product(range(self.scenarios), self.models, self.planes, range(1, self.trials + 1))
        for place, (number, model, plane, trial) in enumerate(places):
            attempt = 1
            while True:
                judged = random.random() >= self.cut
                one = (number, model, plane, trial, attempt)
                made.append((place, _result(random, one, judged=judged)))
                if judged or attempt > 1 or random.random() >= 0.1:
                    break
                attempt += 1
        return made

    def manifest(self) -> Manifest:
        """The plan, before anything was played."""
        names = [_scenario(number) for number in range(self.scenarios)]
        return Manifest(
            run_id=self.run_id,
            harness_version="0.1.0",
            python="3.11.7",
            platform="Linux x86_64",
            created_at=self.created_at,
            finished_at=None,
            state="running",
            scenarios=tuple(
                ScenarioSummary(
                    id=name,
                    digest=digest_text(name),
                    asks="What the control plane selected is claimed, read where it lies, and delivered in one turn.",
                    tags=("synthetic", "tier:nightly"),
                    graph=_graph(_length(number)),
                )
                for number, name in enumerate(names)
            ),
            actors=tuple(_identity(model) for model in self.models),
            planes=self.planes,
            enforcement=Enforcement(executor="warm", plane_environment=("HOME", "LANG", "PATH", "TZ")),
            plan=tuple(
                PlannedEpisode(scenario=name, actor=model.name, plane=plane.ref, trial=trial)
                for name, model, plane, trial in product(names, self.models, self.planes, range(1, self.trials + 1))
            ),
            receipts=(),
            verdicts={},
        )

    def view(self) -> RunView:
        """The run as it is read, without a folder; its manifest holds no chain of receipts."""
        results = [result for _, result in self.results()]
        receipts = tuple(result.receipt for result in results)
        verdicts = [receipt.verdict for receipt in last_attempts(receipts)]
        manifest = self.manifest().model_copy(
            update={
                "state": "complete",
                "finished_at": "2026-01-01T08:00:00Z",
                "verdicts": {word: verdicts.count(word) for word in ("pass", "fail", "not_judged", "pending")},
            }
        )
        return RunView(manifest=manifest, receipts=receipts, log=tuple(result.log for result in results))

    def write(self, folder: Path) -> Path:
        """The run as a folder that ``harness verify`` accepts."""
        with RunStore(folder, self.manifest(), SecretGuard([]), sync=False) as store:
            for place, result in self.results():
                store.add(place, result)
            store.finish("2026-01-01T08:00:00Z")
        return folder


def _scenario(number: int) -> str:
    return f"synthetic/case-{number + 1:02}"


def _length(number: int) -> int:
    """How many calls a scenario asks for."""
    return 3 + number % 4


@cache
def _identity(model: Model) -> ActorIdentity:
    return model.identity


@cache
def _graph(length: int) -> RuleGraph:
    """A chain: each call is due after the one before, and each other one ends the episode."""
    nodes = [
        GraphNode(
            facts=tuple(sorted(FACTS[:at])), accepts=at == length, silence=None if at == length else f"stopped_at_{at}"
        )
        for at in range(length + 1)
    ]
    edges: list[GraphEdge] = []
    for at, call in product(range(length), range(length)):
        edges.append(GraphEdge(source=at, kind=KINDS[call], target=at + 1) if call == at else _ending(at, call))
        if call == at:
            edges.append(GraphEdge(source=at, kind=KINDS[call], code=f"{KINDS[call]}_failed"))
    return RuleGraph(nodes=tuple(nodes), edges=tuple(edges))


def _ending(at: int, call: int) -> GraphEdge:
    return GraphEdge(source=at, kind=KINDS[call], code=_code(at, call))


def _code(at: int, call: int) -> str:
    return f"repeated_{KINDS[call]}" if call < at else f"{KINDS[call]}_too_early"


@dataclass(frozen=True)
class _Came:
    """What came of an episode."""

    verdict: Verdict
    cause: Cause | None
    code: str | None
    outcome: Outcome
    steps: tuple[Step, ...]
    findings: tuple[Finding, ...] = ()


def _result(random: Random, one: tuple[int, Model, PlaneIdentity, int, int], *, judged: bool) -> EpisodeResult:
    number, model, plane, trial, attempt = one
    length = _length(number)
    hardness = (number % 5 - 2) * 0.04
    if not judged:
        came = _unjudged(random, length)
    elif random.random() < model.passes - hardness:
        came = _passed(random, length)
    else:
        came = _failed(random, length)
    turns = max(len(came.steps), 1)
    receipt = Receipt(
        scenario=_scenario(number),
        scenario_digest=digest_text(_scenario(number)),
        definition_digest=digest_text(f"definition {number} {plane.ref}"),
        classifier_version=1,
        actor=_identity(model),
        plane=plane,
        trial=trial,
        attempt=attempt,
        outcome=came.outcome,
        verdict=came.verdict,
        cause=came.cause,
        failure_code=came.code,
        findings=came.findings,
        facts=tuple(fact for step in came.steps for fact in step.sets),
        steps=came.steps,
        turns=tuple(
            TurnSummary(turn=step.turn, finish="tool_calls", said_text=step.turn % 2 == 0, calls=1)
            for step in came.steps
        ),
        counters=Counters(
            model_turns=turns,
            tool_calls=len(came.steps),
            executed_calls=sum(step.executed for step in came.steps),
            refused_calls=sum(not step.executed for step in came.steps),
        ),
        boundary=Boundary(measured=judged),
    )
    return EpisodeResult(receipt=receipt, log=_log(random, model, receipt, turns, judged=judged))


def _passed(random: Random, length: int) -> _Came:
    looks = random.randrange(3)
    steps = [_step(random, at + 1, "clock") for at in range(looks)]
    steps += [_step(random, looks + at + 1, KINDS[at], sets=(FACTS[at],)) for at in range(length)]
    return _Came("pass", None, None, Outcome(status="completed", reason="scenario_satisfied"), tuple(steps))


def _failed(random: Random, length: int) -> _Came:
    at = random.randrange(length)
    steps = [_step(random, place + 1, KINDS[place], sets=(FACTS[place],)) for place in range(at)]
    way = random.choice(_WAYS)
    if way == "silence":
        code = f"stopped_at_{at}"
        outcome = Outcome(status="completed", reason="final_response")
        return _Came("fail", "model", code, outcome, tuple(steps), (Finding(code=code, check="silence"),))
    if way == "answer":
        code = f"{KINDS[at]}_failed"
        finding = Finding(
            code=code,
            step=at + 1,
            check="answer",
            pointer="/selected_todo/todo_id",
            expected=redaction.value("todo_private", frozenset({"todo_private"})),
            got=redaction.missing(),
        )
        steps.append(_step(random, at + 1, KINDS[at], code=code))
    else:
        call = random.choice([other for other in range(length) if other != at])
        code = _code(at, call)
        finding = Finding(code=code, step=at + 1, check="order")
        steps.append(_step(random, at + 1, KINDS[call], code=code, ran=False))
    outcome = Outcome(status="failed", reason="scenario_violation", detail=code)
    return _Came("fail", "control_plane" if way == "answer" else "model", code, outcome, tuple(steps), (finding,))


def _unjudged(random: Random, length: int) -> _Came:
    at = random.randrange(length)
    steps = [_step(random, place + 1, KINDS[place], sets=(FACTS[place],)) for place in range(at)]
    detail = random.choice(("overloaded", "rate_limited", "timeout"))
    outcome = Outcome(status="failed", reason="model_error", detail=detail)
    return _Came("not_judged", "provider", "model_error", outcome, tuple(steps))


def _step(
    random: Random, ordinal: int, kind: str, *, code: str | None = None, sets: tuple[str, ...] = (), ran: bool = True
) -> Step:
    return Step(
        ordinal=ordinal,
        turn=ordinal,
        tool=_TOOL,
        kind=kind,
        code=code,
        result="succeeded" if ran else "denied_policy",
        executed=ran,
        command_digest=f"sha256:{random.getrandbits(256):064x}",
        arguments_digest=f"sha256:{random.getrandbits(256):064x}",
        answer_digest=f"sha256:{random.getrandbits(256):064x}" if ran else None,
        shape=_SHAPE,
        sets=sets,
    )


def _log(random: Random, model: Model, receipt: Receipt, turns: int, *, judged: bool) -> RunLogEntry:
    seconds = round(model.seconds * random.lognormvariate(0.0, 0.4), 3)
    rows: list[AttemptRow] = []
    for turn in range(1, turns + 1):
        failed = not judged and turn == turns
        cost = None if failed else Decimal(round(model.cents * 10_000 / turns * random.uniform(0.7, 1.4)))
        usage = Usage(input_tokens=random.randrange(900, 4000), output_tokens=random.randrange(30, 400))
        rows.append(
            AttemptRow(
                operation=f"turn-{turn}/main",
                attempt=1,
                status="failed" if failed else "completed",
                usage=None if failed else usage,
                seconds=round(seconds / turns, 3),
                model=None if failed else f"{receipt.actor.model}-2026-01",
                error=receipt.outcome.detail if failed else None,
                http_status=529 if failed else 200,
                cost_micro_usd=cost,
            )
        )
    return RunLogEntry(
        key=receipt.key,
        started_at="2026-01-01T00:00:00Z",
        seconds=seconds,
        executor="warm",
        attempts=tuple(rows),
        plane_calls=receipt.counters.executed_calls,
        plane_seconds=round(seconds * 0.02, 3),
    )
