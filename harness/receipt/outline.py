"""Receipts without what whoever reads many of them does not need: in a fifth of the room, or in a third."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, ClassVar, Final, TypeVar

from pydantic import AfterValidator, ConfigDict, Field

from harness.schema.base import Digest, plain
from harness.schema.name import Fact
from harness.schema.receipt import Boundary, Finding, Receipt, Step, TurnSummary

__all__ = ["ReceiptOutline", "ReceiptWithoutDigests"]

#: Is named so in no file: what is left out is passed over, whatever it says.
_NOWHERE: Final = "\0"

_Value = TypeVar("_Value")


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


@plain
class _StepWithoutDigests(Step):
    """A step of which no digest is told, so that many are equal."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

    command_digest: Annotated[Digest | None, Field(validation_alias=_NOWHERE)] = None
    arguments_digest: Annotated[Digest | None, Field(validation_alias=_NOWHERE)] = None
    answer_digest: Annotated[Digest | None, Field(validation_alias=_NOWHERE)] = None


@lru_cache(65536)
def _one(value: _Value) -> _Value:
    return value


class ReceiptWithoutDigests(Receipt):
    """A receipt of which the digests of its steps are not told; equal steps are one object.

    Only where its line was held against its digest may it be read so: what is left out is not looked at.
    """

    facts: Annotated[tuple[Fact, ...], AfterValidator(_one)]
    steps: tuple[Annotated[_StepWithoutDigests, AfterValidator(_one)], ...]
