"""What was planned and what was chosen of it: known where tests are collected, wanted where the session ends."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Final

import pytest

__all__ = ["LEDGER", "Ledger", "ScenarioEntry"]


@dataclass(slots=True)
class ScenarioEntry:
    """One scenario file: how many of its tests are planned and chosen, and the snapshots of it and its variants.

    ``folders`` are the names of the snapshots by their folder.
    """

    folders: dict[str, list[str]] = field(default_factory=dict)
    planned: int = 0
    chosen: int = 0

    @property
    def whole(self) -> bool:
        """Whether every test of the file is to run."""
        return self.chosen == self.planned


@dataclass(slots=True)
class Ledger:
    """All scenario files by path. ``met`` are the scripts of any of them and what of them was asked for, as actors.

    ``recorded`` are their recordings, as actors.
    """

    files: dict[str, ScenarioEntry] = field(default_factory=dict)
    met: set[str] = field(default_factory=set)
    recorded: set[str] = field(default_factory=set)

    def dumped(self) -> str:
        """As a text that a worker can send."""
        return json.dumps({path: asdict(entry) for path, entry in self.files.items()}, allow_nan=False)

    def merge(self, text: str) -> None:
        """Add what a worker sent; every worker collects the same."""
        for path, entry in json.loads(text).items():
            self.files.setdefault(path, ScenarioEntry(**entry))


LEDGER: Final = pytest.StashKey[Ledger]()
