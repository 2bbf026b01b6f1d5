"""Receipts: their texts, the run folder that holds them, and reading it back."""

from harness.receipt.attempts import ProviderFailure, is_damaged, last_attempts, provider_failure
from harness.receipt.build import Evidence, ObservedChange, build_receipt
from harness.receipt.canonical import canonical, digest, line
from harness.receipt.claiming import PART, refuse_taken, was_killed_at_once
from harness.receipt.going_on import go_on
from harness.receipt.late import keep_late
from harness.receipt.locking import is_written, locked, sole
from harness.receipt.merging import Merged, merge
from harness.receipt.outputs import keep_output
from harness.receipt.reading import WHOLE_MAX, read_manifest, read_outline, read_run, read_told, results
from harness.receipt.resuming import Remainder, remainder, set_aside
from harness.receipt.spending import SpendingFile, carry_spending
from harness.receipt.store import RunStore, write_report
from harness.receipt.verifying import Flaw, Verification, verify_run

__all__ = [
    "PART",
    "WHOLE_MAX",
    "Evidence",
    "Flaw",
    "Merged",
    "ObservedChange",
    "ProviderFailure",
    "Remainder",
    "RunStore",
    "SpendingFile",
    "Verification",
    "build_receipt",
    "canonical",
    "carry_spending",
    "digest",
    "go_on",
    "is_damaged",
    "is_written",
    "keep_late",
    "keep_output",
    "last_attempts",
    "line",
    "locked",
    "merge",
    "provider_failure",
    "read_manifest",
    "read_outline",
    "read_run",
    "read_told",
    "refuse_taken",
    "remainder",
    "results",
    "set_aside",
    "sole",
    "verify_run",
    "was_killed_at_once",
    "write_report",
]
