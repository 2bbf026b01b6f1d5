"""The only state of an episode: append-only records, and the fold that reads them."""

from harness.journal.chain import FROM_OUTSIDE, Journal, verify
from harness.journal.file import JournalFile, intact, journal_damage
from harness.journal.fold import apply, fold
from harness.journal.lease import Lease
from harness.journal.recovery import asked, recovery_class, recovery_flags
from harness.journal.spool import DiskSpool, MemorySpool, Spool, is_kept_as_named, kept_attempts, kept_reply
from harness.journal.state import EpisodeState, Operation, StepState

__all__ = [
    "FROM_OUTSIDE",
    "DiskSpool",
    "EpisodeState",
    "Journal",
    "JournalFile",
    "Lease",
    "MemorySpool",
    "Operation",
    "Spool",
    "StepState",
    "apply",
    "asked",
    "fold",
    "intact",
    "is_kept_as_named",
    "journal_damage",
    "kept_attempts",
    "kept_reply",
    "recovery_class",
    "recovery_flags",
    "verify",
]
