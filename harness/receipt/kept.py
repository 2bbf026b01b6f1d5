"""What a run remembers of an episode that is kept on disk: very little, for a run has very many."""

from __future__ import annotations

from hashlib import sha256
from struct import Struct
from sys import intern
from typing import NamedTuple

from harness.schema.base import Digest
from harness.schema.run import EpisodeResult
from harness.schema.verdict import Verdict

__all__ = ["BETWEEN", "Kept"]

#: What stands between a receipt and its log in a line of the part file.
BETWEEN = ',"log":'


#: Where a receipt starts, how long it and its log are (bytes), and its SHA-256.
_PLACE = Struct("<QII32s")


class Kept(NamedTuple):
    """Where an episode's receipt and log lie in the part file, and what the manifest needs of it.

    A run has very many: ``place`` is packed, and most of a key (``question``) is one text for all trials.
    """

    place: bytes
    question: str
    trial: str
    verdict: Verdict

    @classmethod
    def of(cls, at: int, receipt: str, log: str, result: EpisodeResult) -> Kept:
        """An episode whose receipt starts at byte ``at``."""
        question, trial, attempt = result.receipt.key.rsplit("|", 2)
        place = _PLACE.pack(at, len(receipt), len(log), sha256(receipt.encode("ascii")).digest())
        return cls(place, intern(question), f"{trial}|{attempt}", result.receipt.verdict)

    @property
    def receipt(self) -> tuple[int, int]:
        """Where the receipt is, and how long."""
        at, size, _, _ = _PLACE.unpack(self.place)
        return at, size

    @property
    def log(self) -> tuple[int, int]:
        """Where the log is, behind the receipt, and how long."""
        at, size, log_size, _ = _PLACE.unpack(self.place)
        return at + size + len(BETWEEN), log_size

    @property
    def digest(self) -> Digest:
        """Of the receipt."""
        return f"sha256:{_PLACE.unpack(self.place)[3].hex()}"

    @property
    def key(self) -> str:
        """Of the receipt."""
        return f"{self.question}|{self.trial}"
