"""The index of runs: a cache in SQLite of what run folders say, which can always be made again from them."""

from harness.history.index import HistoryIndex
from harness.history.retention import outdated

__all__ = ["HistoryIndex", "outdated"]
