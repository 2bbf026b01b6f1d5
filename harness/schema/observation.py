"""What came back from the world for one call, before anyone judges it."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from harness.schema.base import JsonValue, Plain, plain
from harness.schema.command import TargetRole
from harness.schema.tool import TypedError

__all__ = ["Channel", "ChannelName", "Observation", "ReadObservation"]


#: What is bounded: the streams of what was run, results and errors as they are shown, requests as they are sent.
ChannelName = Literal["stdout", "stderr", "result", "error", "context"]


@plain
class Channel(Plain):
    """The four numbers of a bounded channel, in ``unit``; complete only if nothing was dropped."""

    seen: int
    retained: int
    dropped: int
    truncated: bool
    unit: Literal["bytes", "chars"] = "bytes"

    @staticmethod
    def counted(seen: int, retained: int, unit: Literal["bytes", "chars"] = "bytes") -> Channel:
        """The channel that ``retained`` of ``seen`` went through."""
        return _counted(seen, retained, unit)

    def joined(self, other: Channel) -> Channel:
        """Both together; they have the same unit."""
        return Channel.counted(self.seen + other.seen, self.retained + other.retained, self.unit)


@lru_cache(maxsize=4096)
def _counted(seen: int, retained: int, unit: Literal["bytes", "chars"]) -> Channel:
    """The same numbers come again and again, and with every trial."""
    dropped = max(seen - retained, 0)
    return Channel(seen=seen, retained=retained, dropped=dropped, truncated=dropped > 0, unit=unit)


@plain
class ReadObservation(Plain):
    """One segment of a read plan. ``ran`` is False where ``&&`` or ``||`` skipped it: then it proves nothing."""

    target: str | None
    role: TargetRole | None
    ran: bool
    exit_code: int | None
    text: str


@plain
class Observation(Plain):
    """One executed (or refused) call.

    ``ok`` is exit state 0 and no time-out. ``text`` is the complete decoded output. ``answer`` is the JSON object a
    control plane printed, None where it printed none. ``refused`` says why nothing ran, ``signal`` what it died of.
    ``error`` is how the control plane itself typed an error of it.
    ``sections`` are the lengths of the parts of ``text``, one per stream of a command; empty: it is one.
    """

    ran: bool
    ok: bool
    text: str
    exit_code: int | None = None
    timed_out: bool = False
    signal: int | None = None
    refused: str | None = None
    error: TypedError | None = None
    answer: dict[str, JsonValue] | None = None
    reads: tuple[ReadObservation, ...] = ()
    stdout: Channel | None = None
    stderr: Channel | None = None
    sections: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the result as it was printed: standard error is a part of it where that is shown."""
        shown = (self.stdout, self.stderr if self.reads or not self.ok else None)
        return sum(channel.seen for channel in shown if channel is not None)
