"""Episodes of a run that are kept on disk: where, and what a person answers to one that waits."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from harness.clock import SystemClock, new_token
from harness.episode import DurablePlace, give_answer

__all__ = ["EPISODES", "answer_episode", "durable_place"]

#: The folder of a run in which its unfinished episodes lie.
EPISODES = "episodes"


def durable_place(episodes: Path, key: str) -> DurablePlace:
    """Where the episode with this receipt's key is kept: a changed one is another."""
    return DurablePlace(episodes / sha256(key.encode()).hexdigest()[:32], new_token())


def answer_episode(run: Path, key: str, text: str) -> None:
    """Answer the episode of a run with this receipt's key; who goes on with the run gives it to the model.

    Raises OpeningRefusedError where it does not wait, ValueError for a text that is blank or too long.
    """
    give_answer(durable_place(run / EPISODES, key), SystemClock(), text)
