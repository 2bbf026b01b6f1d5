"""Receipts: their texts, the run folder that holds them, and reading it back."""

from harness.receipt.build import Evidence, ObservedChange, build_receipt
from harness.receipt.canonical import canonical, digest, line
from harness.receipt.locking import sole
from harness.receipt.outputs import keep_output
from harness.receipt.reading import read_run
from harness.receipt.resuming import Remainder, remainder, set_aside
from harness.receipt.store import RunStore, write_report
from harness.receipt.verifying import Flaw, Verification, verify_run

__all__ = [
    "Evidence",
    "Flaw",
    "ObservedChange",
    "Remainder",
    "RunStore",
    "Verification",
    "build_receipt",
    "canonical",
    "digest",
    "keep_output",
    "line",
    "read_run",
    "remainder",
    "set_aside",
    "sole",
    "verify_run",
    "write_report",
]
