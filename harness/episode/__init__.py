"""One run of one scenario: the only loop, and the order of its checks."""

from harness.episode.answering import answering, give_answer
from harness.episode.asking import question
from harness.episode.deciding import decide, deciding
from harness.episode.durable import DurablePlace
from harness.episode.loop import run
from harness.episode.open import open_world
from harness.episode.parts import EpisodeParts, judged_by
from harness.episode.values import json_object
from harness.episode.world import World

__all__ = [
    "DurablePlace",
    "EpisodeParts",
    "World",
    "answering",
    "decide",
    "deciding",
    "give_answer",
    "json_object",
    "judged_by",
    "open_world",
    "question",
    "run",
]
