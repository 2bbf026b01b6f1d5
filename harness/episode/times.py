"""Measured times of an episode on disk, of all its drivers: they are no facts, so its journal does not hold them.

They only tell how long things took. A line that cannot be written, or was torn by a kill, is missing and harms nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from harness.documents import DocumentError, read_file
from harness.schema.base import Frozen

__all__ = ["Times"]

TIMES: Final = "times.jsonl"
_MOST_BYTES: Final = 64 * 1024 * 1024


class _Line(Frozen):
    """``seconds`` of a model attempt (by the name of its row), of a call of the control plane, or of a driver."""

    what: Literal["attempt", "plane", "driver"]
    seconds: float
    row: str = ""


@dataclass(slots=True)
class Times:
    """What earlier drivers measured, read once; ``keep`` adds to it for the next one.

    Without a ``folder`` nobody measured anything. ``seconds`` are those of drivers that left the episode by
    themselves, and of the calls of one that was killed.
    """

    folder: Path | None = None
    attempts: dict[str, float] = field(default_factory=dict)
    plane_calls: int = 0
    plane_seconds: float = 0.0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        """Read what is there; what cannot be read is left out."""
        if self.folder is None:
            return
        try:
            lines = read_file(self.folder / TIMES, most=_MOST_BYTES).split(b"\n")[:-1]
        except DocumentError:
            return
        unfinished = 0.0
        for data in lines:
            with suppress(ValidationError):
                line = _Line.model_validate_json(data)
                unfinished = self._add(line, unfinished)
        self.seconds += unfinished

    def _add(self, line: _Line, unfinished: float) -> float:
        """Count a line; the seconds of calls since the last driver that said how long it was at it."""
        if line.what == "driver":
            self.seconds += line.seconds
            return 0.0
        if line.what == "attempt":
            self.attempts[line.row] = line.seconds
        else:
            self.plane_calls += 1
            self.plane_seconds += line.seconds
        return unfinished + line.seconds

    def keep(self, what: Literal["attempt", "plane", "driver"], seconds: float, row: str = "") -> None:
        """Add a line for whoever goes on with the episode; nothing without a folder."""
        if self.folder is None:
            return
        data = _Line(what=what, seconds=seconds, row=row).model_dump_json().encode("ascii") + b"\n"
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self.folder / TIMES, flags, 0o600)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
            finally:
                os.close(descriptor)
