"""How a run stands, in words: verdicts so far, what it cost, how long it will still take."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from harness.schema.counting import counted, worded
from harness.schema.message import known_count
from harness.schema.money import MICRO, told_usd
from harness.schema.run import EpisodeResult

__all__ = ["WORDS", "Standing", "duration"]

#: Of verdicts, as people say them.
WORDS = {"pass": "passed", "fail": "failed", "not_judged": "not judged", "pending": "pending"}


@dataclass(slots=True)
class Standing:
    """Counts of what came so far; ``total`` is None where nobody knows how many there will be.

    ``at_most``: it is what may still be asked for, and fewer may do.
    ``done`` are episodes that are over, ``verdicts`` those of them whose result is known here, ``again`` attempts
    after which an episode is tried once more: they cost as well.
    """

    total: int | None = None
    done: int = 0
    again: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    micro_usd: Decimal = Decimal(0)
    unknown: int = 0
    at_least: bool = False
    at_most: bool = False

    def over(self, result: EpisodeResult | None) -> None:
        """An episode is over; ``result`` is None where nobody has it here."""
        self.done += 1
        if result is not None:
            self.verdicts[result.receipt.verdict] += 1
            self._spent(result)

    def tried(self, result: EpisodeResult) -> None:
        """An attempt is over, and another one follows."""
        self.again += 1
        self._spent(result)

    def _spent(self, result: EpisodeResult) -> None:
        if result.receipt.actor.kind != "live":
            return
        self.at_least = self.at_least or result.log.at_least
        for row in result.log.attempts:
            parts = () if row.usage is None else (row.usage.input_tokens, row.usage.output_tokens)
            self.tokens += sum(count for part in parts if (count := known_count(part)) is not None)
            if row.cost_micro_usd is not None:
                self.micro_usd += row.cost_micro_usd
            elif row.status != "not_sent":
                self.unknown += 1

    @property
    def so_far(self) -> str:
        """``3 of 7 episodes``, ``3 of at most 7 episodes``."""
        if self.total is None:
            return counted(self.done, "episode")
        bound = "at most " if self.at_most else ""
        return f"{self.done} of {bound}{counted(self.total, 'episode')}"

    @property
    def counts(self) -> str:
        """Verdicts and further attempts, zeros left out; nothing where no result is known."""
        told = [f"{self.verdicts[verdict]} {word}" for verdict, word in WORDS.items() if self.verdicts[verdict]]
        return ", ".join([*told, *([f"{self.again} tried again"] if self.again else [])])

    @property
    def spent(self) -> str:
        """What live models cost, with the calls of which nobody knows it: these are never zero.

        Tokens where no cost is known at all; nothing where no live model was asked.
        """
        more = f" and {counted(self.unknown, 'call')} of unknown cost" if self.unknown else ""
        bound = ">= " if self.at_least else ""
        if self.micro_usd:
            return f"{bound}{told_usd(self.micro_usd / MICRO)}{more}"
        if not (self.tokens or self.unknown or bound):
            return ""
        return f"{bound}{self.tokens:,} {worded(self.tokens, 'token', 'tokens')}{more}"

    def shortly(self, room: int) -> str:
        """What it cost and the counts in so many characters: the counts are cut first, for the cost is what runs on."""
        bound = ">= " if self.at_least or self.unknown else ""
        cost = f"{bound}{told_usd(self.micro_usd / MICRO)}" if self.micro_usd else self.spent.partition(" and ")[0]
        whole = ", ".join(filter(None, (self.counts, cost)))
        if len(whole) <= room:
            return whole
        told = ", ".join(filter(None, (cost, self.counts)))
        return told if len(told) <= room else f"{told[: max(room - 1, 0)]}…"

    def left_s(self, elapsed_s: float) -> float | None:
        """Seconds that the rest will take where it goes on as it did; None where that cannot be told yet."""
        if self.total is None or not self.done or self.done >= self.total:
            return None
        return elapsed_s / self.done * (self.total - self.done)


def duration(seconds: float) -> str:
    """Seconds as a person says them: ``42 s``, ``3 min``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 100:  # noqa: PLR2004  (below, seconds still matter)
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"  # noqa: PLR2004  (an hour)
