"""The only state of an episode: append-only records, and the fold that reads them."""

from harness.journal.chain import FROM_OUTSIDE, Journal, verify
from harness.journal.file import JournalDamage, JournalFile, intact, journal_damage
from harness.journal.fold import apply, fold
from harness.journal.lease import Lease, Leased, leased
from harness.journal.recovery import asked, recovery_class, recovery_flags
from harness.journal.spool import DiskSpool, MemorySpool, Spool, is_kept_as_named, kept_attempts, kept_reply
from harness.journal.state import EpisodeState, Operation, StepState
from harness.journal.vocabulary import as_kept

__all__ = [
    "FROM_OUTSIDE",
    "DiskSpool",
    "EpisodeState",
    "Journal",
    "JournalDamage",
    "JournalFile",
    "Lease",
    "Leased",
    "MemorySpool",
    "Operation",
    "Spool",
    "StepState",
    "apply",
    "as_kept",
    "asked",
    "fold",
    "intact",
    "is_kept_as_named",
    "journal_damage",
    "kept_attempts",
    "kept_reply",
    "leased",
    "recovery_class",
    "recovery_flags",
    "verify",
]
