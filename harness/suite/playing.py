"""Scripts played for ``harness check``: one after another or side by side, and how each of them ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from harness.schema.actor import ActorSpec
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeResult
from harness.schema.scenario import LoadedScenario, Scenario
from harness.schema.script import Script
from harness.schema.trace import EpisodeTrace
from harness.suite.idle import script_actor

__all__ = ["Play", "Played", "ending", "is_variant", "play_all", "play_script", "side_by_side", "with_scenario"]

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")

#: Plays one scripted actor in a scenario and tells what it saw, None where the episode could not be opened.
Play = Callable[[LoadedScenario, ActorSpec], tuple[EpisodeResult, EpisodeTrace | None]]


@dataclass(frozen=True, slots=True)
class Played:
    """What came of the script of that name."""

    name: str
    result: EpisodeResult
    trace: EpisodeTrace | None

    @property
    def receipt(self) -> Receipt:
        """What it proves."""
        return self.result.receipt

    @property
    def passed(self) -> bool:
        """Whether it proves that the scenario was met."""
        return self.receipt.verdict == "pass"


def with_scenario(loaded: LoadedScenario, scenario: Scenario) -> LoadedScenario:
    """The loaded scenario with other rules or another world: for one question, and never for a receipt that is kept."""
    return loaded.model_copy(update={"scenario": scenario})


def is_variant(loaded: LoadedScenario) -> bool:
    """Whether it is one of several scenarios of its file, and has parts that may be there for the others."""
    return PurePath(loaded.path).stem != loaded.scenario.id.rpartition("/")[2]


def play_script(play: Play, loaded: LoadedScenario, name: str, script: Script) -> Played:
    """One episode."""
    result, seen = play(loaded, script_actor(f"script:{name}", script))
    return Played(name, result, seen)


def play_all(
    play: Play, loaded: LoadedScenario, scripts: Iterable[tuple[str, Script]], *, jobs: int
) -> Iterator[Played]:
    """All of them, told in their order; what was not begun is not begun where the caller stops."""

    def played(named: tuple[str, Script]) -> Played:
        return play_script(play, loaded, *named)

    return side_by_side(played, scripts, jobs=jobs)


def side_by_side(ask: Callable[[_Asked], _Answer], everything: Iterable[_Asked], *, jobs: int) -> Iterator[_Answer]:
    """What ``ask`` makes of each of them, ``jobs`` at once, in their order; the first error ends it."""
    with ThreadPoolExecutor(max_workers=max(jobs, 1), thread_name_prefix="check") as pool:
        waiting = [pool.submit(ask, one) for one in everything]
        try:
            for one in waiting:
                yield one.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def ending(result: EpisodeResult) -> str:
    """The verdict with all that a receipt can tell about why."""
    receipt = result.receipt
    parts = [receipt.verdict, receipt.failure_code or receipt.outcome.name]
    for finding in receipt.findings[:1]:
        parts.extend(
            text
            for text in (
                None
                if finding.pointer is None
                else f"{'what is' if finding.check == 'end' else 'the answer'} at {finding.pointer or '/'}",
                None if finding.expected is None else f"expected {finding.expected}",
                None if finding.got is None else f"got {finding.got}",
            )
            if text is not None
        )
    if result.log.problem is not None:
        parts.append(result.log.problem)
    return ", ".join(parts)
