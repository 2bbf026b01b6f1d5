"""How the loop stopped is not what it proves: endings to verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from harness.schema.finding import RawFinding
from harness.schema.outcome import Outcome, Reason
from harness.schema.rules import OutcomeRule
from harness.schema.scenario import Scenario
from harness.schema.verdict import Cause, Verdict

__all__ = ["Conclusion", "default_cause", "default_verdict", "scenario_rule"]

#: Endings that say nothing about the actor, with the class of what went wrong (runner specification 2.5).
NOT_JUDGED: dict[Reason, Cause] = {
    "approval_provider_error": "harness",
    "tool_error": "control_plane",
    "tool_effect_uncertain": "control_plane",
    "model_error": "provider",
    "script_exhausted": "scenario",
    "replay_mismatch": "harness",
    "compaction_exhausted": "harness",
    "preparation_failed": "harness",
    "delegation_failed": "harness",
    "hook_failed": "harness",
    "steer_unavailable": "harness",
    "artifact_persist_failed": "harness",
    "accounting_error": "harness",
    "storage_error": "harness",
    "operator_abort": "harness",
    "total_tokens": "harness",
    "uncached_input_tokens": "harness",
    "host_cost": "harness",
    "metric_unavailable": "provider",
    "context_bytes": "harness",
    "checkpoint_size": "harness",
    "tool_result_bytes": "control_plane",
    "quota_refused": "harness",
    "detached_calls": "harness",
    "cancellation_requested": "harness",
    "ancestor_cancelled": "harness",
    "shutdown": "harness",
    "definition_mismatch": "harness",
    "lease_held": "harness",
    "lease_lost": "harness",
    "journal_version_unsupported": "harness",
    "journal_integrity_mismatch": "harness",
    "fixture_mismatch": "harness",
    "setup_rejected": "scenario",
    "deadline_passed_before_start": "harness",
    "not_found": "harness",
    "key_conflict": "harness",
}


#: Who left it open what an operation came to.
_UNKNOWN: dict[str, Cause] = {"model_call": "provider", "tool_effect": "control_plane"}


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What an episode proves. ``code`` is None only on a pass."""

    verdict: Verdict
    cause: Cause | None
    code: str | None
    findings: tuple[tuple[int | None, RawFinding], ...] = ()


def default_verdict(outcome: Outcome, *, live: bool) -> Verdict:
    """The taxonomy's own reading of an ending that no scenario rule names; ``fail`` stands for "judged"."""
    if outcome.status == "suspended":
        return "pending"
    if outcome.reason == "duration":
        return "not_judged" if live else "fail"
    if outcome.reason in NOT_JUDGED:
        return "not_judged"
    return "fail"


def default_cause(outcome: Outcome, verdict: Verdict, *, waited_for_model: bool = False) -> Cause:
    """Whose fault an ending is: outages the provider's, broken worlds the scenario's, judged endings the model's.

    Where the time is over it is the provider's if its answer was waited for. Else a slow machine and a slow control
    plane cannot be told apart, and neither is the model's.
    """
    if outcome.reason == "duration":
        return "provider" if waited_for_model else "harness"
    if verdict == "fail":
        return "model"
    if outcome.detail == "environment":
        return "harness"
    if outcome.status == "suspended":
        return _UNKNOWN.get(outcome.detail or "", "harness")
    return NOT_JUDGED.get(outcome.reason, "harness")


def scenario_rule(scenario: Scenario, outcome: Outcome) -> OutcomeRule:
    """What the scenario itself says about this ending."""
    rule = scenario.outcomes.get(outcome.name)
    if rule is None:
        return OutcomeRule()
    return OutcomeRule(code=rule) if isinstance(rule, str) else rule
