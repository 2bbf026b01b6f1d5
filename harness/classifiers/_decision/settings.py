"""What a decision must look like, and where in the packet each part of it is to be read (values of a scenario)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from harness.schema.base import OF_ITS_TYPE, Frozen
from harness.schema.name import Code, Pointer
from harness.schema.packet import Conditions
from harness.schema.rules import Scalar

__all__ = ["DERIVATIONS", "AnswerField", "DecisionSettings", "Forbidden", "Listed", "Mapped", "Route"]

#: The ways in which a field can be held against something.
DERIVATIONS: Final = ("equals", "from_", "present", "lacks", "if_", "listed", "mapped", "route")


class Listed(Frozen):
    """Those of ``of``, in their order, that have something that is not empty in the object at ``at``."""

    at: Pointer
    of: tuple[str, ...] = Field(min_length=1, max_length=64)


class Mapped(Frozen):
    """The value of ``to`` for the text at ``at``; a packet with a text that it does not name is unfit."""

    at: Pointer
    to: dict[str, Scalar] = Field(min_length=1, max_length=64)


class AnswerField(Frozen):
    """One field of the answer.

    ``type``: ``text``; ``token`` (1 to 160 characters out of letters, digits and ``_.:@-``, a letter or digit first);
    ``flag`` (true or false); ``count`` (a whole number); ``tokens`` and ``texts`` (arrays of them); ``table`` (an
    object, compared as a whole). ``least`` and ``most`` bound a text's characters, a count, an array's elements, or the
    characters of a table's JSON. ``one_of`` are the only texts that may stand there (in an array: the only elements),
    ``starts`` is how each begins. ``nullable``: null may stand there; ``optional``: nothing may.

    At most one says what it must be: ``equals`` a fixed value; ``from`` what is at the first of these pointers into the
    packet that has something (nothing is null, or else false, an empty array, an empty object; of any other type the
    packet is unfit then); ``present`` and ``lacks`` whether something is at a pointer that is not null, false, zero or
    empty; ``if`` whether all these expectations hold of the packet; ``listed``, ``mapped``; ``route`` the route that
    follows from the packet. ``where``: it is held against that only where these hold of the packet. Else it is free.
    """

    type: Literal["text", "token", "flag", "count", "tokens", "texts", "table"]
    least: Annotated[int, Field(ge=0)] | None = None
    most: Annotated[int, Field(ge=0, le=65_536)] | None = None
    one_of: tuple[str, ...] | None = Field(default=None, min_length=1, max_length=256)
    starts: str | None = Field(default=None, min_length=1, max_length=160)
    nullable: bool = False
    optional: bool = False
    equals: Scalar = None
    from_: Pointer | Annotated[tuple[Pointer, ...], Field(min_length=1)] | None = Field(default=None, alias="from")
    present: Pointer | None = None
    lacks: Pointer | None = None
    if_: Conditions | None = Field(default=None, alias="if", min_length=1, max_length=16)
    listed: Listed | None = None
    mapped: Mapped | None = None
    route: Annotated[Literal[True], OF_ITS_TYPE] | None = None
    where: Conditions = Field(default={}, max_length=16)

    @property
    def derivations(self) -> tuple[str, ...]:
        """Which of the ways are given."""
        return tuple(name for name in DERIVATIONS if getattr(self, name) is not None)

    @property
    def sources(self) -> tuple[Pointer, ...]:
        """The pointers of ``from``."""
        return (self.from_,) if isinstance(self.from_, str) else self.from_ or ()


class Route(Frozen):
    """One way to go on: the first is taken of which all conditions hold of the packet.

    ``when``: expectations; ``there``: something that is not null, false, zero or empty.
    """

    to: str = Field(min_length=1, max_length=160)
    when: Conditions = Field(default={}, max_length=16)
    there: tuple[Pointer, ...] = Field(default=(), max_length=16)

    @property
    def always(self) -> bool:
        """Whether it has no conditions."""
        return not (self.when or self.there)


class Forbidden(Frozen):
    """A combination that no answer may have: ``all`` are expectations of ``{"answer": …, "packet": …}``."""

    name: Code
    all: Conditions = Field(min_length=1, max_length=16)


class DecisionSettings(Frozen):
    """``fields`` are all that the answer has, by pointers into it; objects follow from them. Nothing else is allowed.

    ``most_chars`` is how long the answer may be as it was written. ``route`` are the ways, the last without conditions.
    ``never`` are asked of an answer that has the right form, before its fields are held against the packet.
    """

    fields: dict[Pointer, AnswerField] = Field(min_length=1, max_length=64)
    route: tuple[Route, ...] = Field(default=(), max_length=32)
    never: tuple[Forbidden, ...] = Field(default=(), max_length=32)
    most_chars: Annotated[int, Field(ge=2, le=65_536)] = 16_384
