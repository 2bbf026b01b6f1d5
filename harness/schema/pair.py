"""Two variants of a scenario whose verdicts on the same answers must agree, or must differ."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import Frozen
from harness.schema.script import Script

__all__ = ["BASE", "PairSpec", "VariantName"]

#: What a file without its variants is called in a pair.
BASE = "base"

VariantName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]


class PairSpec(Frozen):
    """The answers of ``play`` are given in both ``variants`` (``base`` is the file itself); both must be judged.

    ``agree``: what changes between them must not matter, so verdict and code are the same. ``differ``: it must, so the
    verdicts are not.
    """

    variants: Annotated[tuple[VariantName, ...], Field(min_length=2, max_length=2)]
    verdicts: Literal["agree", "differ"]
    play: Script
