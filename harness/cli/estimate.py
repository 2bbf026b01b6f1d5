"""What a run would ask and cost, as far as that can be said before it is made."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from harness import meter
from harness.schema.base import Frozen
from harness.schema.counting import counted, worded
from harness.schema.money import dollars_of, told_usd
from harness.schema.run import EpisodeJob
from harness.schema.scenario import Scenario

__all__ = ["Estimate", "estimate"]

#: Characters of a token in ordinary English, for what is only an estimate.
_CHARACTERS: Final = 4
#: Where nothing bounds an answer: what models may seldom exceed in one turn.
_LONG_ANSWER: Final = 4_096


class Estimate(Frozen):
    """Of live models only. Tokens and US dollars are a range from the shortest to the longest episodes.

    The dollars are None where the price of any of them is not known. An answer of unbounded length is taken for 4,096
    tokens.
    """

    episodes: int
    live_episodes: int
    calls: int
    least_tokens: int
    most_tokens: int
    least_usd: Decimal | None
    most_usd: Decimal | None

    @property
    def text(self) -> str:
        """In one line."""
        episodes = counted(self.episodes, "episode")
        if not self.calls:
            return f"{episodes}; no calls of live models"
        tokens = f"{self.least_tokens:,} to {self.most_tokens:,} {worded(self.most_tokens, 'token', 'tokens')}"
        calls = f"at most {counted(self.calls, 'call')} of live models, {tokens}"
        if self.least_usd is None or self.most_usd is None:
            return f"{episodes}; {calls}, price unknown"
        return f"{episodes}; {calls}, {told_usd(self.least_usd)} to {told_usd(self.most_usd, at_most=True)}"


def estimate(jobs: Iterable[EpisodeJob]) -> Estimate:
    """What jobs may come to: from one short answer an episode to every turn, call and character that is allowed."""
    jobs = tuple(jobs)
    live = [job for job in jobs if job.actor.identity.kind == "live"]
    shortest = [(job, _prompt(job.loaded.scenario), 1) for job in live if job.loaded.scenario.limits.model_turns]
    longest = [(job, *_longest(job)) for job in live]
    return Estimate(
        episodes=len(jobs),
        live_episodes=len(live),
        calls=sum(job.loaded.scenario.limits.model_turns for job in live),
        least_tokens=sum(into + out for _, into, out in shortest),
        most_tokens=sum(into + out for _, into, out in longest),
        least_usd=_dollars(shortest),
        most_usd=_dollars(longest),
    )


def _prompt(scenario: Scenario) -> int:
    """Tokens of the first request, about."""
    texts = [scenario.prompt.system or "", scenario.prompt.user, *(tool.about or "" for tool in scenario.tool.values())]
    return math.ceil(sum(map(len, texts)) / _CHARACTERS)


def _longest(job: EpisodeJob) -> tuple[int, int]:
    """Input and output tokens of an episode that uses up its turns, its calls and the length of its answers."""
    limits, settings = job.loaded.scenario.limits, job.actor.identity.settings
    answer = (settings.max_output_tokens if settings else None) or _LONG_ANSWER
    turns, result = limits.model_turns, math.ceil(limits.tool_result_chars / _CHARACTERS)
    # results and answers of one turn are read again in every later one
    shown = min(limits.tool_calls, (turns - 1) * limits.tool_calls_per_turn) if turns else 0
    into = turns * _prompt(job.loaded.scenario) + turns * shown * result + answer * turns * max(turns - 1, 0) // 2
    out = turns * answer
    if limits.total_tokens is not None:
        # the last reply may cross it, by itself at most
        into = min(into, limits.total_tokens + into // max(turns, 1))
    return into, out


def _dollars(sums: Iterable[tuple[EpisodeJob, int, int]]) -> Decimal | None:
    total = Decimal(0)
    for job, into, out in sums:
        if job.actor.price is None:
            return None
        total += meter.most(job.actor.price, input_tokens=into, output_tokens=out)
    return dollars_of(total)
