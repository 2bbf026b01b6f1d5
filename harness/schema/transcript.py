"""A recorded conversation as people read it; texts may be only a beginning, and then say so."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import Frozen
from harness.schema.name import Code
from harness.schema.recording import RecordingHeader
from harness.schema.verdict import Verdict

__all__ = ["Passage", "Speaker", "Transcript", "TranscriptTurn"]

#: Whose words they are. ``harness`` tells which tools were offered, ``provider`` an answer that is no reply.
Speaker = Literal["harness", "system", "user", "model", "tool", "control plane", "provider"]


class Passage(Frozen):
    """One text. ``text`` is its beginning where ``shown`` is less than ``size`` (bytes of UTF-8).

    ``line`` is the line of the recording that holds it whole.
    """

    speaker: Speaker
    about: str = ""
    text: str
    shown: int
    size: int
    line: int


class TranscriptTurn(Frozen):
    """One exchange: what was new in the request, what came back, and what the control plane then answered."""

    number: int
    asked: tuple[Passage, ...]
    said: tuple[Passage, ...]
    answers: tuple[Passage, ...]


class Transcript(Frozen):
    """One recording, told. ``header`` and ``turns`` are missing where it is not told, for the reason in ``problem``.

    ``size`` is that of the file, in bytes. ``verdict`` and ``failure_code`` are those of the recorded episode, where a
    run knows them.
    """

    file: str
    size: int
    header: RecordingHeader | None = None
    turns: tuple[TranscriptTurn, ...] = ()
    problem: str | None = None
    verdict: Verdict | None = None
    failure_code: Code | None = None
