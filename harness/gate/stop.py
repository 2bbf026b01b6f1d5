"""Why a call may not run."""

from __future__ import annotations

from dataclasses import dataclass

from harness.schema.tool import ResultCode

__all__ = ["GateStop"]


@dataclass(frozen=True, slots=True)
class GateStop:
    """``code`` for the record, ``source`` which rule said so, ``text`` what the actor is told (our words only)."""

    code: ResultCode
    source: str
    text: str
