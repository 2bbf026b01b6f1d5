"""How the loop stopped: a closed taxonomy (runner specification 2.5)."""

from __future__ import annotations

from typing import Literal, get_args

from harness.schema.base import Numerous

__all__ = ["REASONS", "OpeningRefusal", "Outcome", "Reason", "Status"]

Status = Literal["completed", "suspended", "failed", "limit_exceeded", "cancelled", "rejected"]

_Completed = Literal[
    "scenario_satisfied",
    "final_response",
    "finalized",
    "tool_finish",
    "stop_on_first_tool",
    "stop_at_tool_name",
    "external_completion",
]
_Suspended = Literal[
    "needs_user_input",
    "blocked",
    "approval_pending",
    "reconciliation_required",
]
_Failed = Literal[
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
]
_LimitExceeded = Literal[
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
]
_Cancelled = Literal[
    "cancellation_requested",
    "ancestor_cancelled",
    "shutdown",
]
#: Why an episode was not begun, or not gone on with.
OpeningRefusal = Literal[
    "definition_mismatch",
    "lease_held",
    "lease_lost",
    "journal_version_unsupported",
    "journal_integrity_mismatch",
    "fixture_mismatch",
    "setup_rejected",
    "deadline_passed_before_start",
    "quota_refused",
    "not_found",
    "key_conflict",
]

Reason = Literal[_Completed, _Suspended, _Failed, _LimitExceeded, _Cancelled, OpeningRefusal]

#: The reasons that may stand behind each status.
REASONS: dict[Status, tuple[str, ...]] = {
    "completed": get_args(_Completed),
    "suspended": get_args(_Suspended),
    "failed": get_args(_Failed),
    "limit_exceeded": get_args(_LimitExceeded),
    "cancelled": get_args(_Cancelled),
    "rejected": get_args(OpeningRefusal),
}


class Outcome(Numerous):
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
