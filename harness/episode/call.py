"""One call: the order of checks (runner specification 2.4), as a tuple of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from harness import gate, rules
from harness.episode.answer import answer_call, result_code, result_text
from harness.episode.directive import stop_at_tool
from harness.episode.endings import machine_ending, violation
from harness.episode.erring import UNCERTAIN, ending_of, error_code
from harness.episode.following import follow_up
from harness.episode.hands import CallInHand, CallStop
from harness.episode.observing import fitted, observe
from harness.episode.perform import perform
from harness.episode.progress import end_loop
from harness.episode.reading import command_digest, kind_of_text, read_call
from harness.episode.reading_on import classify_reading_on
from harness.episode.sources import known_values
from harness.episode.world import World
from harness.errors import ControlPlaneError, MachineError, OutOfTimeError
from harness.gate import GateStop
from harness.recording import answer_key
from harness.rules import RuleState
from harness.schema.base import Digest, JsonValue, digest_json
from harness.schema.control import CONTROL_NAMES
from harness.schema.finding import Judgement, RawFinding
from harness.schema.observation import Observation
from harness.schema.outcome import Outcome, Reason
from harness.schema.pointer import without
from harness.schema.record import Classified, OpReceipt, OpStarted, OpUnknown
from harness.schema.recording import PlaneAnswer
from harness.schema.rules import KindSpec
from harness.schema.scenario import Strictness

__all__ = ["CALL", "run_one"]


_CallStep = Callable[[World, CallInHand], CallStop | None]


def _still_running(world: World, _: CallInHand) -> CallStop | None:
    """C1: cancellation, then the deadline."""
    ending = world.bounds.cancellation()
    if ending is not None:
        return CallStop("cancelled_before_execution", "cancelled", ending)
    ending = world.bounds.passed()
    if ending is not None:
        return CallStop("skipped_due_to_stop", "not run: the time is over", ending)
    return None


def _classify_proposal(world: World, hand: CallInHand) -> CallStop | None:
    """C2: classify what is proposed, exactly as written, before anything can run."""
    if world.reads_more(hand.call.name):
        classify_reading_on(world, hand)
        return None
    if not read_call(world, hand):
        return None
    hand.before = world.rule_state
    hand.proposal = rules.propose(world.scenario, hand.before, hand.kind, hand.parsed, known_values(world))
    world.record(
        Classified(
            turn=hand.turn,
            call=hand.index,
            point="proposal",
            kind_name=hand.proposal.kind,
            code=hand.proposal.code,
            shape=None if hand.parsed is None else hand.parsed.shape,
            command=command_digest(world, hand),
            arguments=digest_json(world.placeholders.hide_json(hand.call.arguments)),
        )
    )
    if hand.proposal.code is None:
        return None
    _find(world, (RawFinding(code=hand.proposal.code, check="order"),))
    return CallStop("skipped_due_to_stop", "not run: the scenario is over", violation(hand.proposal.code))


def _decoded(world: World, hand: CallInHand) -> CallStop | None:
    """C4: the arguments are one JSON object."""
    return _gate(gate.check_decoded(hand.call), world.scenario.strict.parse, "invalid_model_response", "arguments")


def _declared(world: World, hand: CallInHand) -> CallStop | None:
    """C5: the name is declared and bound."""
    tools = [tool for tool in world.tools if tool.name not in CONTROL_NAMES]  # beside other calls they are none
    stop = gate.check_declared(hand.call.name, tools)
    return _gate(stop, world.scenario.strict.unknown_tool, "invalid_model_response", "undeclared")


def _permitted(world: World, hand: CallInHand) -> CallStop | None:
    """C6: the scenario's policy."""
    stop = gate.check_permitted(hand.call.name, world.scenario.policy)
    return _gate(stop, world.scenario.strict.policy, "permission_denied", stop.source if stop else None)


def _valid(world: World, hand: CallInHand) -> CallStop | None:
    """C7: the declared schema and the size bound."""
    spec = next(tool for tool in world.tools if tool.name == hand.call.name)
    stop = gate.check_schema(hand.call, spec, argument_bytes=world.limits.argument_bytes)
    return _gate(stop, world.scenario.strict.arguments, "invalid_arguments", stop.source if stop else None)


def _start(world: World, hand: CallInHand) -> CallStop | None:
    """C11: from here on the world may be touched."""
    world.record(OpStarted(operation=hand.operation, attempt=hand.attempt))
    return None


def _bounded(world: World, hand: CallInHand) -> CallStop | None:
    """C13: a result within the byte bound."""
    limit = world.limits.tool_result_bytes
    size = hand.observation.size if hand.observation else 0
    if size <= limit:
        return None
    world.record(
        OpReceipt(
            operation=hand.operation,
            attempt=hand.attempt,
            status="failed",
            spool=_kept(world, hand),
            detail="result_too_large",
        )
    )
    ending = Outcome(
        status="limit_exceeded",
        reason="tool_result_bytes",
        limit=limit,
        observed=size,
        overshoot=size - limit,
    )
    return CallStop("error_terminal", "error: the result is too large", ending)


def _receipt(world: World, hand: CallInHand) -> CallStop | None:
    """C14: the full result is kept, which may say that nobody knows what was done; then what is shown is bounded."""
    seen = hand.observation
    if seen is None:  # pragma: no cover  (C12 always observes or stops)
        raise AssertionError(hand.operation)
    hand.error = None if hand.kind is None else rules.typed_error(hand.kind, seen)
    if hand.error is not None and hand.error.class_ == "uncertain":
        world.record(
            OpUnknown(operation=hand.operation, attempt=hand.attempt, detail=UNCERTAIN, spool=_kept(world, hand))
        )
    else:
        ok = seen.ok and hand.error is None
        status: Literal["succeeded", "failed"] = "succeeded" if ok else "failed"
        world.record(OpReceipt(operation=hand.operation, attempt=hand.attempt, status=status, spool=_kept(world, hand)))
    if hand.reaches_plane and seen.ran:
        _keep_answer(world, hand, seen)
    return observe(world, hand)


def _kept(world: World, hand: CallInHand) -> Digest:
    return world.keep_result(hand.observation)


def _classify_result(world: World, hand: CallInHand) -> CallStop | None:
    """C16: judge what came back; it may satisfy the scenario or break it."""
    if world.reads_more(hand.call.name):
        return None
    kind, before, seen = hand.kind, hand.before, hand.observation
    if kind is None or before is None or seen is None:  # pragma: no cover  (C2 and C12 set them or stop)
        raise AssertionError(hand.operation)
    if seen.timed_out:
        return None  # a read that was cut off proves nothing; it is answered as such, and the episode goes on
    try:
        judgement = follow_up(world, hand, _judged(world, hand, kind, before, seen))
    except (MachineError, OutOfTimeError, ControlPlaneError) as error:
        world.problem = str(error)
        return _stop(hand, seen, _not_asked(error))
    hand.judgement = judgement
    world.record(
        Classified(
            turn=hand.turn,
            call=hand.index,
            point="result",
            kind_name=kind.name,
            code=judgement.code,
            sets=judgement.sets,
        )
    )
    if judgement.code is not None:
        return _wrong(world, hand, seen, judgement)
    if rules.satisfies(world.scenario, frozenset(world.state.facts)):
        ending = Outcome(status="completed", reason="scenario_satisfied", detail=kind.name)
        return _stop(hand, seen, ending)
    return None


def _wrong(world: World, hand: CallInHand, seen: Observation, judgement: Judgement) -> CallStop:
    """A result that breaks the scenario, if it is not the machine's fault."""
    code = judgement.code or ""
    lacking = world.lacking() if hand.reaches_plane and seen.ran else None
    if lacking is not None:
        world.problem = f"the answer is wrong, and the machine lacks something: {lacking}"
        return _stop(hand, seen, machine_ending())
    _find(world, judgement.findings or (RawFinding(code=code, check="execution"),))
    return _stop(hand, seen, violation(code))


def _judged(world: World, hand: CallInHand, kind: KindSpec, before: RuleState, seen: Observation) -> Judgement:
    return rules.judge(
        world.scenario,
        before,
        kind,
        seen,
        file=world.file_text,
        kind_of=lambda text: kind_of_text(world, hand, text),
        shown=result_text(hand, seen),
        known=known_values(world),
    )


def _not_asked(error: MachineError | OutOfTimeError | ControlPlaneError) -> Outcome:
    """The ending where a call of the harness's own, to see what came of the actor's, could not be made."""
    if isinstance(error, OutOfTimeError):
        return Outcome(status="limit_exceeded", reason="duration", detail="deadline")
    if isinstance(error, MachineError):
        return machine_ending()
    return Outcome(status="failed", reason="tool_error", detail="control_plane")


def _class_of_error(_: World, hand: CallInHand) -> CallStop | None:
    """C17: a recoverable error is shown; after a terminal or an uncertain one nothing can come."""
    code, seen = error_code(hand), hand.observation
    if code is None or seen is None:
        return None
    return CallStop(code, result_text(hand, seen), ending_of(hand))


#: The specification's order; a test compares the names with its list.
CALL: tuple[tuple[str, _CallStep], ...] = (
    ("C1", _still_running),
    ("C2", _classify_proposal),
    ("C4", _decoded),
    ("C5", _declared),
    ("C6", _permitted),
    ("C7", _valid),
    ("C11", _start),
    ("C12", perform),
    ("C13", _bounded),
    ("C14", _receipt),
    ("C16", _classify_result),
    ("C17", _class_of_error),
    ("C19", stop_at_tool),
)


def run_one(world: World, hand: CallInHand) -> CallStop:
    """Ask the steps in order; the first that answers ends the call. Exactly one result is recorded."""
    stop = next((found for _, step in CALL if (found := step(world, hand)) is not None), None)
    if stop is None:
        seen = hand.observation
        if seen is None:  # pragma: no cover  (C12 always observes or stops)
            raise AssertionError(hand.operation)
        stop = _stop(hand, seen)
    stop = fitted(world, hand, stop)
    answer_call(world, hand, stop)
    return end_loop(world, hand, stop)


def _stop(hand: CallInHand, seen: Observation, ending: Outcome | None = None) -> CallStop:
    return CallStop(result_code(seen), result_text(hand, seen), ending)


def _gate(stop: GateStop | None, strictness: Strictness, reason: Reason, detail: str | None) -> CallStop | None:
    if stop is None:
        return None
    ending = Outcome(status="failed", reason=reason, detail=detail) if strictness == "fail" else None
    return CallStop(stop.code, stop.text, ending, stop.source)


def _keep_answer(world: World, hand: CallInHand, seen: Observation) -> None:
    """What the control plane answered, without what may differ between two runs: for receipt, values and witness."""
    spec = world.scenario.call
    whole: JsonValue = seen.text if seen.answer is None else without(seen.answer, spec.volatile if spec else ())
    stable = world.placeholders.hide_json(whole)
    key = digest_json(stable)
    if seen.answer is not None:
        hand.answer = key
        if hand.proposal.kind is not None and seen.ok:
            world.values.answers.setdefault(hand.proposal.kind, seen.answer)
    if world.parts.witness is not None:
        told = PlaneAnswer(
            step=len(world.state.steps),
            kind=hand.proposal.kind,
            exit_code=seen.exit_code,
            answer=stable,
            key=answer_key(hand.proposal.kind, seen.exit_code, stable),
        )
        world.drifts.extend(world.parts.witness.answered(told))


def _find(world: World, findings: tuple[RawFinding, ...]) -> None:
    ordinal = len(world.state.steps)
    world.findings.extend((ordinal, finding) for finding in findings)
