"""The only state of an episode: append-only records, and the fold that reads them."""

from harness.journal.chain import Journal, verify
from harness.journal.fold import apply, fold
from harness.journal.spool import MemorySpool
from harness.journal.state import EpisodeState, Operation, StepState

__all__ = ["EpisodeState", "Journal", "MemorySpool", "Operation", "StepState", "apply", "fold", "verify"]
