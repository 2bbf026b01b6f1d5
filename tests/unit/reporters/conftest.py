"""A run of two scenarios as the loop would leave it: passes, failures of several sorts, an outage, an empty place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from harness import redaction
from harness.receipt import digest
from harness.receipt.canonical import link
from harness.schema.actor import ActorIdentity
from harness.schema.base import digest_text
from harness.schema.command import CommandShape
from harness.schema.graph import GraphEdge, GraphNode, RuleGraph
from harness.schema.outcome import Outcome
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Boundary, BoundaryChange, Counters, Finding, Receipt, Step, TurnSummary
from harness.schema.run import (
    AttemptRow,
    Enforcement,
    Manifest,
    PlannedEpisode,
    ReceiptLink,
    RunLogEntry,
    RunView,
    ScenarioSummary,
)
from harness.schema.verdict import Cause, Verdict

PLANE = PlaneIdentity(name="loopx", version="0.4.8", wheel_sha256="8d" * 32)
LOG = "runtime/goals/portfolio-goal/rollout-event-log.jsonl"
DECLARED = (LOG, LOG + ".lock", "project/fixture/private-source.json")
SAYABLE = frozenset({"todo_portfolio_private_read", "capability_bridge_repair", "bounded_delivery", "run"})

#: kind -> (node it leads to from each node, or the code it ends with)
Moves = Mapping[str, Sequence[int | str | tuple[int, str]]]


def rules(facts: Sequence[tuple[str, ...]], silence: Sequence[str | None], moves: Moves) -> RuleGraph:
    edges: list[GraphEdge] = []
    for source in range(len(facts)):
        for kind, leads in moves.items():
            if source >= len(leads):
                continue
            move = leads[source]
            target, code = move if isinstance(move, tuple) else (move, None)
            if isinstance(target, int):
                edges.append(GraphEdge(source=source, kind=kind, target=target))
            else:
                code = target
            if code is not None:
                edges.append(GraphEdge(source=source, kind=kind, code=code))
    nodes = tuple(
        GraphNode(facts=tuple(sorted(names)), accepts=word is None, silence=word)
        for names, word in zip(facts, silence, strict=True)
    )
    return RuleGraph(nodes=nodes, edges=tuple(edges))


REPAIR = rules(
    [(), ("informed",), ("informed", "verified"), ("informed", "reentered", "verified")],
    ["model_returned_without_tool_call", "waited_on_capability_reentry", "waited_on_capability_reentry", None],
    {
        "quota_reentry": [
            "quota_reentry_before_callsite",
            "quota_reentry_before_callsite",
            (3, "quota_reentry_failed"),
        ],
        "monitor_fallback": ["monitor_fallback"] * 3,
        "quota_should_run": [
            (1, "quota_execution_failed"),
            "repeated_quota_should_run",
            "repeated_quota_should_run",
        ],
        "clock": [(0, "repeated_clock"), (1, "repeated_clock"), (2, "repeated_clock")],
        "capability_callsite": [
            "capability_callsite_before_quota",
            (2, "capability_callsite_execution_failed"),
            (2, "capability_callsite_execution_failed"),
        ],
        "workspace_read": [(0, "workspace_read_failed"), "post_quota_backtracking", "post_quota_backtracking"],
    },
)
SELECTED = rules(
    [
        (),
        ("informed",),
        ("claimed", "informed"),
        ("informed", "inspected"),
        ("claimed", "informed", "inspected"),
        ("claimed", "delivered", "informed", "inspected"),
    ],
    ["model_returned_without_tool_call", "stopped_before_delivery", *["stopped_before_delivery"] * 3, None],
    {
        "quota_should_run": [(1, "quota_execution_failed"), *["repeated_quota_should_run"] * 4],
        "todo_claim": [
            "claim_before_quota",
            (2, "claim_failed"),
            "repeated_claim",
            (4, "claim_failed"),
            "repeated_claim",
        ],
        "source_read": ["read_before_quota", (3, "source_read_failed"), (4, "source_read_failed"), 3, 4],
        "refresh_state": ["delivery_before_quota", *["delivery_before_claim"] * 3, (5, "delivery_failed")],
        "workspace_read": [0, 1, 2, 3, 4],
    },
)


def actor(name: str, *, live: bool = False) -> ActorIdentity:
    if live:
        return ActorIdentity(
            ref=name, kind="live", provider="ark", model="doubao-seed-2", digest=digest_text("live " + name)
        )
    return ActorIdentity(ref=name, kind="script", digest=digest_text(name))


def step(ordinal: int, kind: str | None, *, code: str | None = None, sets: tuple[str, ...] = ()) -> Step:
    ran = code is None or code.endswith("_failed")
    family = "call" if kind in {"quota_should_run", "quota_reentry", "todo_claim", "refresh_state"} else "content"
    return Step(
        ordinal=ordinal,
        turn=ordinal,
        tool=redaction.name("exec_command", {"exec_command"}),
        kind=kind,
        code=code,
        result="succeeded" if ran else "denied_policy",
        executed=ran,
        refused=None if ran or kind is not None else "unparseable",
        command_digest=digest_text(f"command {kind}"),
        arguments_digest=digest_text(f"arguments {kind}"),
        answer_digest=digest_text(f"answer {kind}") if ran and family == "call" else None,
        shape=CommandShape(
            parseable=kind is not None,
            tokens=8 if family == "call" else 2,
            family="call" if family == "call" else "content",
            segments=1,
            multiline=False,
            pipe=kind is None,
            redirect=kind is None,
            conditional=False,
            expansion=False,
            names_content_target=family == "content",
        ),
        sets=sets,
    )


def told(
    scenario: str,
    who: ActorIdentity,
    steps: tuple[Step, ...],
    *,
    verdict: Verdict = "pass",
    code: str | None = None,
    cause: Cause | None = None,
    findings: tuple[Finding, ...] = (),
    outcome: Outcome | None = None,
    changes: tuple[BoundaryChange, ...] = (),
    trial: int = 1,
) -> Receipt:
    facts = [fact for one in steps for fact in one.sets]
    ended = Outcome(status="completed", reason="scenario_satisfied")
    if code is not None:
        ended = Outcome(status="failed", reason="scenario_violation", detail=code)
    turns = tuple(TurnSummary(turn=one.turn, finish="tool_calls", said_text=False, calls=1) for one in steps)
    if verdict != "not_judged":
        changes = (
            BoundaryChange(
                path=redaction.workspace_path(LOG, DECLARED), change="added", by="control_plane", allowed=True
            ),
            *changes,
        )
    return Receipt(
        scenario=scenario,
        scenario_digest=digest_text(scenario),
        definition_digest=digest_text("definition " + scenario),
        classifier_version=1,
        actor=who,
        plane=PLANE,
        trial=trial,
        attempt=1,
        outcome=outcome or ended,
        verdict=verdict,
        cause=cause,
        failure_code=code,
        findings=findings,
        facts=tuple(facts),
        steps=steps,
        turns=turns,
        counters=Counters(
            model_turns=len(steps),
            tool_calls=len(steps),
            executed_calls=sum(one.executed for one in steps),
            refused_calls=sum(not one.executed for one in steps),
        ),
        boundary=Boundary(measured=bool(changes), changes=changes, unexpected=sum(not one.allowed for one in changes)),
    )


QUOTA = ("quota_should_run", ("informed",))
CALLSITE = ("capability_callsite", ("verified",))


def walked(*held: tuple[str, tuple[str, ...]], broken: tuple[str | None, str] | None = None) -> tuple[Step, ...]:
    steps = [step(number, kind, sets=sets) for number, (kind, sets) in enumerate(held, start=1)]
    if broken is not None:
        steps.append(step(len(steps) + 1, broken[0], code=broken[1]))
    return tuple(steps)


def found(code: str, at: int, check: str, *rest: str) -> Finding:
    pointer, expected, got = rest or (None, None, None)
    return Finding.model_validate(
        {"code": code, "step": at, "check": check, "pointer": pointer, "expected": expected, "got": got}
    )


def receipts() -> tuple[Receipt, ...]:
    repair, selected = "loopx/capability-repair", "loopx/selected-todo"
    live = actor("ark/doubao-seed-2", live=True)
    wrong = redaction.value("todo_that_the_scenario_does_not_hold", SAYABLE)
    expected = redaction.value("todo_portfolio_private_read", SAYABLE)
    strange = redaction.workspace_path("project/fixture/hunter2-hunter2.txt", DECLARED)
    return (
        told(repair, actor("script"), walked(QUOTA, CALLSITE, ("quota_reentry", ("reentered",)))),
        told(
            repair,
            actor("script:quota_reentry_before_callsite"),
            walked(QUOTA, broken=("quota_reentry", "quota_reentry_before_callsite")),
            verdict="fail",
            code="quota_reentry_before_callsite",
            cause="model",
            findings=(found("quota_reentry_before_callsite", 2, "order"),),
        ),
        told(
            repair,
            live,
            walked(("clock", ()), QUOTA, CALLSITE, broken=("quota_reentry", "quota_reentry_failed")),
            verdict="fail",
            code="quota_reentry_failed",
            cause="control_plane",
            findings=(
                found("quota_reentry_failed", 4, "answer", "/selected_todo/todo_id", expected, wrong),
                found("quota_reentry_failed", 4, "answer", "/capability_gate/action", '"run"', redaction.missing()),
                found(
                    "quota_reentry_failed",
                    4,
                    "answer",
                    "/interaction_contract/agent_channel/delivery_allowed",
                    "true",
                    "false",
                ),
            ),
        ),
        told(
            repair,
            live,
            walked(QUOTA),
            trial=2,
            verdict="not_judged",
            code="model_error",
            cause="provider",
            outcome=Outcome(status="failed", reason="model_error", detail="overloaded"),
        ),
        told(
            repair,
            actor("script:waited_on_capability_reentry"),
            walked(QUOTA, CALLSITE),
            verdict="fail",
            code="waited_on_capability_reentry",
            cause="model",
            findings=(Finding(code="waited_on_capability_reentry", check="silence"),),
            outcome=Outcome(status="completed", reason="final_response"),
        ),
        told(
            selected,
            actor("script"),
            walked(
                QUOTA,
                ("workspace_read", ()),
                ("workspace_read", ()),
                ("source_read", ("inspected",)),
                ("todo_claim", ("claimed",)),
                ("refresh_state", ("delivered",)),
            ),
        ),
        told(
            selected,
            live,
            walked(QUOTA, ("todo_claim", ("claimed",)), broken=(None, "unexpected_command")),
            verdict="fail",
            code="unexpected_command",
            cause="model",
            findings=(
                found("unexpected_command", 3, "order"),
                Finding(code="unexpected_change", check="boundary"),
            ),
            changes=(BoundaryChange(path=strange, change="modified", by="tool", allowed=False),),
        ),
    )


@pytest.fixture(scope="session")
def view() -> RunView:
    """Seven receipts for eight places: 2 passed, 4 failed, 1 not judged, 1 not run."""
    told_receipts = receipts()
    links: list[ReceiptLink] = []
    for receipt in told_receipts:
        links.append(link(links[-1] if links else None, receipt.key, digest(receipt)))
    plan = tuple(
        PlannedEpisode(scenario=one.scenario, actor=one.actor.ref, plane=PLANE.ref, trial=one.trial)
        for one in told_receipts
    )
    unplayed = PlannedEpisode(scenario="loopx/selected-todo", actor="ark/doubao-seed-2", plane=PLANE.ref, trial=2)
    log = tuple(
        RunLogEntry(
            key=one.key,
            started_at=f"2026-08-12T05:00:{number:02}Z",
            seconds=0.25 + number,
            executor="warm",
            attempts=(AttemptRow(operation="model-1", attempt=1, status="completed", usage=None, seconds=0.2),),
            plane_calls=len(one.steps),
            problem="the provider was overloaded (HTTP 529) three times" if one.verdict == "not_judged" else None,
        )
        for number, one in enumerate(told_receipts)
    )
    return RunView(
        manifest=Manifest(
            run_id="20260812T050000Z-3f9a",
            harness_version="0.1.0",
            python="3.11.7",
            platform="Linux x86_64",
            created_at="2026-08-12T05:00:00Z",
            finished_at="2026-08-12T05:00:31Z",
            state="interrupted",
            scenarios=(
                ScenarioSummary(
                    id="loopx/capability-repair",
                    digest=digest_text("loopx/capability-repair"),
                    asks="A capability that is reported missing is verified once where it is called, and re-entered in "
                    "the same turn; the monitor that is due is left alone.",
                    tags=("loopx", "tool-loop", "tier:pr"),
                    graph=REPAIR,
                    file="scenarios/pack/repair.toml",
                ),
                ScenarioSummary(
                    id="loopx/selected-todo",
                    digest=digest_text("loopx/selected-todo"),
                    asks="The todo that the control plane selected is claimed, its source read, and delivered.",
                    tags=("loopx", "tier:nightly"),
                    graph=SELECTED,
                ),
            ),
            actors=tuple({one.actor.ref: one.actor for one in told_receipts}.values()),
            planes=(PLANE,),
            enforcement=Enforcement(executor="warm", plane_environment=("HOME", "LANG", "PATH", "TZ")),
            plan=(*plan, unplayed),
            receipts=tuple(links),
            verdicts={"pass": 2, "fail": 4, "not_judged": 1, "pending": 0},
        ),
        receipts=told_receipts,
        log=log,
    )
