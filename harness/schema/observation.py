"""What came back from the world for one call, before anyone judges it."""

from __future__ import annotations

from harness.schema.base import Frozen, JsonValue
from harness.schema.command import TargetRole

__all__ = ["Channel", "Observation", "ReadObservation"]


class Channel(Frozen):
    """The four numbers of a bounded channel, in ``unit``; complete only if nothing was dropped."""

    seen: int
    retained: int
    dropped: int
    truncated: bool
    unit: str = "bytes"


class ReadObservation(Frozen):
    """One segment of a read plan. ``ran`` is False where ``&&`` or ``||`` skipped it: then it proves nothing."""

    target: str | None
    role: TargetRole | None
    ran: bool
    exit_code: int | None
    text: str


class Observation(Frozen):
    """One executed (or refused) call.

    ``ok`` is exit state 0 and no time-out. ``text`` is the complete decoded output. ``answer`` is the JSON object a
    control plane printed, None where it printed none. ``refused`` says why nothing ran, ``signal`` what it died of.
    ``error`` is the code that an operation of the control plane gave for not being done.
    """

    ran: bool
    ok: bool
    text: str
    exit_code: int | None = None
    timed_out: bool = False
    signal: int | None = None
    refused: str | None = None
    answer: dict[str, JsonValue] | None = None
    reads: tuple[ReadObservation, ...] = ()
    stdout: Channel | None = None
    stderr: Channel | None = None
    error: str | None = None
