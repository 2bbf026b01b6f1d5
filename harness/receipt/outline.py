"""Receipts without what was done step by step: what counting needs of them, in a fifth of the room."""

from __future__ import annotations

from typing import Final

from pydantic import ConfigDict, Field

from harness.schema.receipt import Boundary, Finding, Receipt, Step, TurnSummary

__all__ = ["ReceiptOutline"]

#: Is named so in no file: what is left out is passed over, whatever it says.
_NOWHERE: Final = "\0"


class ReceiptOutline(Receipt):
    """A receipt of which ``steps``, ``turns``, ``facts``, ``findings`` and ``boundary`` are not told.

    Only where its line was held against its digest may it be read so: what is left out is not looked at.
    """

    model_config = ConfigDict(extra="ignore", validate_by_name=False)

    findings: tuple[Finding, ...] = Field(default=(), validation_alias=_NOWHERE)
    facts: tuple[str, ...] = Field(default=(), validation_alias=_NOWHERE)
    steps: tuple[Step, ...] = Field(default=(), validation_alias=_NOWHERE)
    turns: tuple[TurnSummary, ...] = Field(default=(), validation_alias=_NOWHERE)
    boundary: Boundary = Field(default=Boundary(measured=False), validation_alias=_NOWHERE)
