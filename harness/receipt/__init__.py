"""Receipts: their texts, the run folder that holds them, and reading it back."""

from harness.receipt.build import Evidence, ObservedChange, build_receipt
from harness.receipt.canonical import canonical, digest, line
from harness.receipt.reading import read_run
from harness.receipt.resuming import Remainder, remainder, set_aside
from harness.receipt.spending import SpendingFile
from harness.receipt.store import RunStore, write_report

__all__ = [
    "Evidence",
    "ObservedChange",
    "Remainder",
    "RunStore",
    "SpendingFile",
    "build_receipt",
    "canonical",
    "digest",
    "line",
    "read_run",
    "remainder",
    "set_aside",
    "write_report",
]
