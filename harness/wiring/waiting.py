"""Episodes of a run that are kept on disk: where, and what a person answers or decides about one that waits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path

from harness.clock import SystemClock, new_token
from harness.episode import DurablePlace, answering, deciding, question
from harness.schema.process import Completed
from harness.schema.record import Decision

__all__ = ["EPISODES", "asked_in", "durable_place", "held_for_answer", "held_for_decision"]

#: The folder of a run in which its unfinished episodes lie.
EPISODES = "episodes"


def durable_place(episodes: Path, key: str, *, is_new: bool = False) -> DurablePlace:
    """Where the episode with this receipt's key is kept: a changed one is another; a new one must not be there yet."""
    folder = episodes / sha256(key.encode()).hexdigest()[:32]
    return DurablePlace(folder, new_token(), expects="new" if is_new else "any")


def asked_in(run: Path, key: str) -> str | None:
    """What the episode of a run with this receipt's key asks a person, raw; None where it waits for none."""
    return question(durable_place(run / EPISODES, key).folder)


def held_for_answer(run: Path, key: str, text: str) -> AbstractContextManager[Callable[[], None]]:
    """Hold the episode of a run with this receipt's key; within the block its argument records the answer.

    Who goes on with the run gives it to the model. Raises OpeningRefusedError on entering where it does not wait,
    ValueError for a text that is blank or too long.
    """
    return answering(durable_place(run / EPISODES, key), SystemClock(), text)


def held_for_decision(
    run: Path, key: str, decision: Decision, printed: bytes | None = None
) -> AbstractContextManager[Callable[[], object]]:
    """Hold the episode of a run with this receipt's key; within the block its argument records the decision.

    Who goes on with the run does it. ``printed`` is what the control plane answered, where that is known. Raises
    DecisionRefusedError on entering where the episode does not wait for a decision, or not for this one.
    """
    result = None if printed is None else _answered(printed)
    return deciding(durable_place(run / EPISODES, key), SystemClock(), decision, result=result)


def _answered(printed: bytes) -> Completed:
    return Completed(exit_code=0, timed_out=False, stdout=printed, stderr=b"", stdout_seen=len(printed), stderr_seen=0)
