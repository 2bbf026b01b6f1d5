"""The thresholds of the loop detectors, and what they compare."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import OF_ITS_TYPE, Digest, Frozen, Plain, plain

__all__ = ["CallMarks", "DetectorSpec", "Stuck"]

#: What the progress detectors find, as the detail of ``failed/no_progress``; in the order in which they are asked.
Stuck = Literal["same_action", "malformed", "similar_error", "long_text"]

#: So many in a row trip a detector (2..1,000); false turns it off. One alone is no repetition.
Threshold = Annotated[int, Field(ge=2, le=1_000)] | Annotated[Literal[False], OF_ITS_TYPE]


class DetectorSpec(Frozen):
    """How many in a row end the episode, by detector (runner specification 2.10).

    ``repetition``: one call ending in the same typed error. ``same_action``: turns with the same calls and the same
    results. ``malformed``: turns in which no call could be parsed. ``similar_error``: failing turns with the same
    untyped error text but for numbers. ``long_text``: near-identical replies of 400 characters or more.
    """

    repetition: Threshold = 3
    same_action: Threshold = 3
    malformed: Threshold = 2
    similar_error: Threshold = 2
    long_text: Threshold = 3


@plain
class CallMarks(Plain):
    """What the loop detectors compare of a call and its result: digests only, so nothing of either can be read.

    ``action``: tool, arguments and result. ``repeats``: tool, arguments and code of a typed recoverable error.
    ``error``: the text of an untyped error with ids and numbers collapsed. Call ids are in none of them.
    """

    action: Digest
    repeats: Digest | None = None
    error: Digest | None = None
