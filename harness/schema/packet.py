"""The packet of a scenario: one answer of the control plane that the prompt shows and the actor decides about."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.schema.base import Frozen
from harness.schema.name import Code, Pointer
from harness.schema.rules import Expectation

__all__ = ["EACH", "PACKET_NAME", "Conditions", "Invariant", "PacketSpec", "Preparation"]

#: The name that stands for the packet in the prompt.
PACKET_NAME = "packet"
#: The step of a pointer that stands for every element of an array, with what is before it.
EACH = "/*"

#: Expectations by pointer, all of which must hold. A step ``*`` of a pointer stands for every element of an array
#: there: what is looked at is the array of what they have there.
Conditions = dict[Pointer, Expectation]


class Invariant(Frozen):
    """What holds of every sound packet, or of one of which ``when`` holds; else ``code`` says what is broken.

    ``holds``: expectations. ``there``: there, and not empty. ``counts``: a whole number from 0 on. At least one of the
    three is given, and all of it must be so.
    """

    code: Code
    when: Conditions = Field(default={}, max_length=16)
    holds: Conditions = Field(default={}, max_length=64)
    there: tuple[Pointer, ...] = Field(default=(), max_length=64)
    counts: tuple[Pointer, ...] = Field(default=(), max_length=64)


class PacketSpec(Frozen):
    """Where the packet comes from, and what must be so before anybody is asked about it.

    ``plane`` are the arguments of a control-plane call, ``at`` points into its JSON object. ``without`` is taken out
    (what differs from run to run, what would give the answer away). Paths of the workspace are placeholders in it;
    ``paths`` says what becomes of other paths of a machine: ``hide`` puts ``<local path>`` in their place, ``refuse``
    is the end before anybody is asked. ``must`` are its invariants.
    """

    plane: tuple[str, ...] = Field(min_length=1, max_length=256)
    at: Pointer = ""
    without: tuple[Pointer, ...] = Field(default=(), max_length=64)
    paths: Literal["hide", "refuse"] = "hide"
    must: tuple[Invariant, ...] = Field(default=(), max_length=64)


class Preparation(Frozen):
    """What a classifier that grades a decision makes of a packet before anybody is asked.

    ``withheld`` are texts that the answer is graded on, by their place in it: they are to be read out of the packet,
    and may stand nowhere else in the prompt. ``unfit`` are places of the answer for which the packet gives nothing to
    hold them against.
    """

    withheld: dict[Pointer, tuple[str, ...]] = {}
    unfit: tuple[Pointer, ...] = ()
