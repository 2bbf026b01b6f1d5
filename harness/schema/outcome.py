"""How the loop stopped: a closed taxonomy (runner specification 2.5)."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Frozen

__all__ = ["Outcome", "Reason", "Status"]

Status = Literal["completed", "suspended", "failed", "limit_exceeded", "cancelled", "rejected"]

Reason = Literal[
    # completed
    "scenario_satisfied",
    "final_response",
    "finalized",
    "tool_finish",
    "stop_on_first_tool",
    "stop_at_tool_name",
    "external_completion",
    # suspended
    "needs_user_input",
    "blocked",
    "approval_pending",
    "reconciliation_required",
    # failed
    "scenario_violation",
    "no_progress",
    "tool_loop_detected",
    "invalid_model_response",
    "model_output_truncated",
    "model_refusal",
    "content_filtered",
    "invalid_arguments",
    "permission_denied",
    "approval_denied",
    "approval_timeout",
    "approval_provider_error",
    "tool_error",
    "tool_effect_uncertain",
    "model_error",
    "script_exhausted",
    "replay_mismatch",
    "compaction_exhausted",
    "preparation_failed",
    "delegation_failed",
    "hook_failed",
    "hook_stopped",
    "steer_unavailable",
    "artifact_persist_failed",
    "accounting_error",
    "storage_error",
    "operator_abort",
    # limit_exceeded
    "model_turns",
    "tool_calls",
    "tool_calls_by_name",
    "tool_calls_per_turn",
    "total_tokens",
    "uncached_input_tokens",
    "host_cost",
    "metric_unavailable",
    "duration",
    "context_bytes",
    "checkpoint_size",
    "output_size",
    "tool_result_bytes",
    "quota_refused",
    "detached_calls",
    # cancelled
    "cancellation_requested",
    "ancestor_cancelled",
    "shutdown",
    # rejected
    "definition_mismatch",
    "lease_held",
    "lease_lost",
    "journal_version_unsupported",
    "journal_integrity_mismatch",
    "fixture_mismatch",
    "setup_rejected",
    "deadline_passed_before_start",
    "not_found",
    "key_conflict",
]


class Outcome(Frozen):
    """``status/reason`` and a small closed detail: identifiers and counts only, never free text.

    ``detail`` is a code (``deadline``, ``transport``, ``ids``); ``limit``, ``observed``, ``attempted`` and
    ``overshoot`` are set for exceeded limits.
    """

    status: Status
    reason: Reason
    detail: str | None = None
    limit: int | None = None
    observed: int | None = None
    attempted: int | None = None
    overshoot: int | None = None

    @property
    def name(self) -> str:
        """``status/reason``, the form scenarios map to their own codes."""
        return f"{self.status}/{self.reason}"
