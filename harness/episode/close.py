"""The end of an episode: outcome to verdict, evidence to receipt."""

from __future__ import annotations

from collections.abc import Sequence

from harness import redaction, rules
from harness.episode.boundary import measure
from harness.episode.classifying import classified, phrases
from harness.episode.end_state import end_findings
from harness.episode.parts import EpisodeParts
from harness.episode.verdict import Conclusion, default_cause, default_verdict, scenario_rule
from harness.episode.world import World
from harness.journal import EpisodeState, Journal, StepState
from harness.ports import Scripted
from harness.receipt import Evidence, ObservedChange, build_receipt
from harness.schema.base import JsonValue, digest_json
from harness.schema.finding import RawFinding
from harness.schema.name import Fact
from harness.schema.outcome import Outcome
from harness.schema.receipt import Receipt, Step, TurnSummary
from harness.schema.record import InputDelivered, TurnCommitted
from harness.schema.recording import Drift
from harness.schema.rules import OutcomeRule
from harness.schema.scenario import Scenario
from harness.schema.tool import READ_MORE
from harness.schema.verdict import Cause

__all__ = ["UNEXPECTED_CHANGE", "close"]

_Found = tuple[tuple[int | None, RawFinding], ...]

#: Codes of a scenario that did not come to pass as it is written.
FAULT_NEVER_FIRED, SCRIPT_LEFT_OVER = "fault_never_fired", "script_left_over"
#: The code of an episode in which something changed that the scenario does not allow.
UNEXPECTED_CHANGE = "unexpected_workspace_change"


def close(
    parts: EpisodeParts,
    journal: Journal,
    world: World | None,
    outcome: Outcome,
    *,
    by_plane: bool = False,
    refused: Sequence[RawFinding] = (),
) -> Receipt:
    """The receipt of an episode that ended with ``outcome``; ``world`` is None where it could not be opened.

    ``by_plane``: it could not, for the control plane failed; ``refused`` is what was wrong then.
    """
    scenario = world.scenario if world else parts.job.loaded.scenario
    if world is not None and parts.witness is not None:
        world.drifts.extend(parts.witness.closed())
    state = journal.state
    changes = measure(world) if world else None
    if world is not None:
        world.changes = changes or ()
    conclusion = _conclude(parts, world, state, outcome, changes or ())
    if refused and conclusion.verdict == "not_judged":
        conclusion = _unfit(conclusion, refused)
    declared = [*scenario.workspace.roots, *(place for file in scenario.workspace.file for place in file.at)]
    declared += [*scenario.boundary.plane_writes, *scenario.boundary.tool_writes, "process_home"]
    tools = (*scenario.tool, *((READ_MORE,) if scenario.observe.spill else ()))
    evidence = Evidence(
        outcome=outcome,
        verdict=conclusion.verdict,
        cause="control_plane" if by_plane and conclusion.verdict == "not_judged" else conclusion.cause,
        code=conclusion.code,
        findings=conclusion.findings,
        drifts=tuple(world.drifts) if world else (),
        facts=state.facts,
        steps=tuple(_step(number, step, tools) for number, step in enumerate(state.steps, 1)),
        turns=tuple(map(_turn, state.turns)),
        model_turns=state.model_turns,
        changes=changes,
        definition=_definition(journal),
        classifier_version=parts.classifier_version,
        sayable=rules.sayable(scenario, phrases(scenario, parts.classifiers)),
        declared_paths=declared,
    )
    return build_receipt(parts.job, evidence)


def _conclude(
    parts: EpisodeParts, world: World | None, state: EpisodeState, outcome: Outcome, changes: Sequence[ObservedChange]
) -> Conclusion:
    if world is not None and world.drifts:
        return _stale(world.drifts, world.findings)
    judged = _judge(parts, world, state, outcome)
    unmet = None if world is None or judged.verdict not in {"pass", "fail"} else _unmet(parts, world, state)
    if unmet is not None:
        finding = RawFinding(code=unmet, check="outcome")
        return Conclusion("not_judged", "scenario", unmet, (*judged.findings, (None, finding)))
    if world is not None:
        judged = classified(parts, world, outcome, changes, judged)
    wrong = [change for change in changes if not change.allowed]
    if not wrong:
        return judged
    finding = RawFinding(code=UNEXPECTED_CHANGE, check="boundary", expected=0, got=len(wrong))
    findings = (*judged.findings, (None, finding))
    if judged.verdict != "pass":
        return Conclusion(judged.verdict, judged.cause, judged.code, findings)
    cause: Cause = "control_plane" if all(change.by == "control_plane" for change in wrong) else "model"
    return Conclusion("fail", cause, UNEXPECTED_CHANGE, findings)


def _unmet(parts: EpisodeParts, world: World, state: EpisodeState) -> str | None:
    """The code of what the scenario promised and did not come to pass: then it proves nothing about its actor."""
    for fault in world.scenario.fault:
        asked = state.operations.get(f"turn-{fault.at}/main")
        if asked is None or asked.attempt == 0:
            return FAULT_NEVER_FIRED
    if world.scenario.strict.leftovers == "fail" and isinstance(parts.actor, Scripted) and parts.actor.left:
        return SCRIPT_LEFT_OVER
    return None


def _unfit(conclusion: Conclusion, refused: Sequence[RawFinding]) -> Conclusion:
    """An opening that was refused for reasons that have codes: the first is its code, whatever the scenario says."""
    findings = tuple((None, finding) for finding in refused)
    return Conclusion(conclusion.verdict, conclusion.cause, refused[0].code, findings)


def _stale(drifts: Sequence[Drift], found: Sequence[tuple[int | None, RawFinding]]) -> Conclusion:
    """What no longer fits its recording proves nothing; the receipt says what changed."""
    first = drifts[0].stale
    cause: Cause = "control_plane" if first in {"plane_version", "plane_answer"} else "scenario"
    return Conclusion("not_judged", cause, f"stale_{first}", tuple(found))


def _judge(parts: EpisodeParts, world: World | None, state: EpisodeState, outcome: Outcome) -> Conclusion:
    """The scenario's own word for this ending first, then its rules, then the taxonomy."""
    scenario = parts.job.loaded.scenario
    rule = scenario_rule(scenario, outcome)
    found = tuple(world.findings) if world else ()
    if outcome.reason == "scenario_violation":
        broken: Cause = "control_plane" if found and found[0][1].check == "answer" else "model"
        return Conclusion(rule.verdict or "fail", rule.cause or broken, rule.code or outcome.detail, found)
    facts = frozenset(state.facts)
    if outcome.status == "completed" and rule.verdict is None:
        return _at_the_end(world, ()) if rules.accepts(scenario, facts) else _silent(scenario, rule, facts, found)
    live = parts.job.actor.identity.kind == "live"
    verdict = rule.verdict or ("fail" if rule.code else default_verdict(outcome, live=live))
    if verdict == "pass":
        return _at_the_end(world, found) if facts >= set(rule.needs) else _silent(scenario, rule, facts, found)
    code = rule.code or outcome.reason
    finding = (None, RawFinding(code=code, check="outcome"))
    waited = live and any(one.purpose == "main" and one.status == "unknown" for one in state.operations.values())
    cause = rule.cause or default_cause(outcome, verdict, waited_for_model=waited)
    return Conclusion(verdict, cause, code, (*found, finding))


def _silent(scenario: Scenario, rule: OutcomeRule, facts: frozenset[Fact], found: _Found) -> Conclusion:
    """It ended without what it was to show."""
    code = rule.code or rules.silence(scenario, facts)
    finding = (None, RawFinding(code=code, check="silence"))
    return Conclusion("fail", rule.cause or "model", code, (*found, finding))


def _at_the_end(world: World | None, found: _Found) -> Conclusion:
    """A pass, if what was said and what is holds too."""
    wrong = () if world is None else end_findings(world)
    if not wrong:
        return Conclusion("pass", None, None, found)
    return Conclusion("fail", "model", wrong[0][1].code, (*found, *wrong))


def _definition(journal: Journal) -> str | None:
    """The frozen definition with the prompt's texts as they were delivered."""
    opened = journal.state.opened
    if opened is None:
        return None
    inputs: list[JsonValue] = [
        [payload.input, payload.digest]
        for payload in journal.payloads
        if isinstance(payload, InputDelivered) and payload.input.startswith("prompt.")
    ]
    return digest_json([opened.definition, *inputs])


def _step(ordinal: int, step: StepState, tools: tuple[str, ...]) -> Step:
    return Step(
        ordinal=ordinal,
        turn=step.turn,
        tool=redaction.name(step.tool, tools),
        kind=step.kind,
        code=step.code,
        result=step.result or "interrupted",
        executed=step.executed,
        refused=step.refused,
        command_digest=step.command,
        arguments_digest=step.arguments,
        answer_digest=step.answer,
        shape=step.shape,
        sets=step.sets,
    )


def _turn(turn: TurnCommitted) -> TurnSummary:
    return TurnSummary(
        turn=turn.turn, finish=turn.finish, said_text=turn.said_text, calls=turn.calls, quirks=turn.quirks
    )
