"""The rules of a scenario as data: kinds of calls, facts, answer checks, silence (pure values)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import OF_ITS_TYPE, Frozen
from harness.schema.name import Code, Fact, KindName, Pointer, WorkspacePath
from harness.schema.source import ValueSource
from harness.schema.tool import ErrorClass
from harness.schema.verdict import Cause, Verdict

__all__ = [
    "AnswerCheck",
    "CheckSpec",
    "EndCheck",
    "EndSpec",
    "ErrorRule",
    "Expectation",
    "KindSpec",
    "Near",
    "OptionRule",
    "OutcomeRule",
    "Scalar",
    "ShowsSpec",
    "SilenceRule",
]

Scalar = bool | int | float | str | None


class Near(Frozen):
    """A number no further from ``to`` than ``within``, both as they are written in decimal."""

    to: float
    within: Annotated[float, Field(ge=0)]


class AnswerCheck(Frozen):
    """One expectation at one pointer; exactly one of the tests is given. A bare scalar means ``equals``.

    ``one_of``: equal to one of these. ``contains``: a substring of a string, or an element of an array. ``same_as``:
    equal to the value at another pointer of the same document. ``empty``: present and an empty array, object, string
    or null. ``absent``: not there. ``near``: a number close to another one. ``commands``: an array of command texts of
    which exactly so many are of each named kind; with it, ``none_contains`` forbids a substring in any of them.
    ``matches``: a text in which the pattern (RE2) matches, ``avoids``: a text in which it does not. ``from``: equal to
    the value of another place. ``code`` is this check's own failure code.
    """

    equals: Scalar = None
    one_of: Annotated[tuple[Scalar, ...], Field(min_length=1, max_length=64)] | None = None
    contains: Scalar = None
    same_as: Pointer | None = None
    empty: Annotated[Literal[True], OF_ITS_TYPE] | None = None
    absent: Annotated[Literal[True], OF_ITS_TYPE] | None = None
    near: Near | None = None
    commands: dict[KindName, Annotated[int, Field(ge=0)]] | None = None
    none_contains: str | None = None
    matches: str | None = None
    avoids: str | None = None
    from_: ValueSource | None = Field(default=None, alias="from")
    code: Code | None = None

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests that are given; ``none_contains`` belongs to ``commands``. Empty: JSON null is wanted."""
        plain = ("equals", "one_of", "contains", "same_as", "empty", "absent", "near", "matches", "avoids")
        named = (*plain, "from_", "commands", "none_contains")
        return tuple(name for name in named if getattr(self, name) is not None)


Expectation = AnswerCheck | Scalar


class ShowsSpec(Frozen):
    """Proof by content: reads of ``file`` printed that file's JSON.

    ``any``: every read of it that ran printed it, and at least one ran. ``all``: every read of it ran and printed it.
    """

    file: str
    reads: Literal["any", "all"]


class CheckSpec(Frozen):
    """Checks on the results of one kind; ``occurrence`` (from 1) narrows them to one of its results."""

    kind: KindName
    occurrence: Annotated[int, Field(ge=1)] | None = None
    shows: ShowsSpec | None = None
    answer: dict[Pointer, Expectation] = Field(default={}, max_length=256)


class ErrorRule(Frozen):
    """Which results are an error of this class, known by ``code``; at least one test is given, and all must hold.

    ``exit``: the exit code, 1..255. ``where``: expectations on a control plane's answer, by pointer.
    """

    exit: Annotated[int, Field(ge=1, le=255)] | None = None
    where: dict[Pointer, Expectation] = Field(default={}, max_length=64)
    class_: ErrorClass = Field(alias="class")
    code: Code


class OptionRule(Frozen):
    """Options that a call of a kind must have, or it fails with ``code`` and does not run.

    A text is the option's value, ``"*"`` any that is not empty, a list one of them, a table the value of another place;
    true and false are a flag that must be there or must not.
    """

    with_: dict[str, str | bool | tuple[str, ...] | ValueSource] = Field(alias="with", min_length=1, max_length=64)
    code: Code


class KindSpec(Frozen):
    """One kind of call. First match in file order wins.

    Matchers (at least one): ``call`` a control-plane call with any of these adjacent word pairs, ``with`` its
    ``--option value`` pairs (``"*"`` any non-empty value that is no option itself, true a present flag, false an
    absent one), ``word`` a whole token;
    ``read`` a command of the read grammar by the role of what it reads (``any``: whatever that is), with
    ``alternative`` by whether a part of it waits for another to fail; ``help`` a question for the help of a call path;
    ``programs`` a text of harmless simple commands that are all called so; ``tool`` with ``where`` (pointers into the
    arguments). Order of questions: ``fatal``, ``once``, ``never``, ``needs``, ``options``; then run, ``errors`` (the
    first that fits types the result, and nothing after it is asked), checks, ``sets``. ``proves`` are facts, each with
    the JSON file that a result must show for it. A call of a kind with a ``hint`` is not run but answered with that
    text, and it ``sets`` its fact.
    """

    name: KindName
    call: tuple[str, ...] = Field(default=(), max_length=64)
    with_: dict[str, str | bool] = Field(default={}, alias="with", max_length=64)
    word: str | None = None
    read: Literal["clock", "content", "metadata", "other", "any"] | None = None
    alternative: bool | None = None
    help: str | None = None
    programs: tuple[str, ...] = Field(default=(), max_length=64)
    tool: str | None = None
    where: dict[Pointer, Expectation] = Field(default={}, max_length=64)
    fatal: Code | None = None
    once: Code | None = None
    never: dict[Fact, Code] = Field(default={}, max_length=64)
    needs: dict[Fact, Code] = Field(default={}, max_length=64)
    options: tuple[OptionRule, ...] = Field(default=(), max_length=64)
    errors: tuple[ErrorRule, ...] = Field(default=(), max_length=64)
    failed: Code | None = None
    sets: Fact | None = None
    proves: dict[Fact, WorkspacePath] = Field(default={}, max_length=64)
    hint: Annotated[str, Field(min_length=1, max_length=4_096)] | None = None

    @property
    def is_call(self) -> bool:
        """Whether it is a call of the control plane."""
        return bool(self.call or self.with_) or self.word is not None

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact that a call of this kind can make true."""
        return (*(() if self.sets is None else (self.sets,)), *self.proves)


class SilenceRule(Frozen):
    """What it means when the actor stops calling: the first rule whose facts are all there gives the code."""

    has: tuple[Fact, ...] = ()
    lacks: tuple[Fact, ...] = ()
    code: Code


class EndCheck(Frozen):
    """What must hold when the actor is done, or the episode fails with ``code``.

    ``holds`` are expectations by pointer into ``{"answer": ..., "state": ...}``: the final answer (its JSON, or its
    text where it is none; what was claimed in an accepted ``finalize``, or the text of ``blocked``; absent where
    none was given) and what the control plane itself holds then (absent where it cannot tell). ``same_as`` compares
    one with the other: what was said with what was done.
    """

    code: Code
    holds: dict[Pointer, Expectation] = Field(min_length=1, max_length=256)


class EndSpec(Frozen):
    """``accept``: these facts together satisfy the scenario. ``unexpected``: the code of a call of no kind.

    With a ``check`` facts are not enough: the actor must stop calling as well, and all checks must hold then.
    Where there are no tools there are no facts to accept, and silence breaks nothing.
    """

    accept: tuple[Fact, ...] = Field(default=(), max_length=64)
    silence: tuple[SilenceRule, ...] = Field(default=(), max_length=256)
    unexpected: Code = "unexpected_command"
    check: tuple[EndCheck, ...] = Field(default=(), max_length=256)


class OutcomeRule(Frozen):
    """What an ending of the loop means for this scenario, instead of the default of the taxonomy.

    ``needs`` are facts without which the verdict ``pass`` is not given: then it is the end's silence.
    """

    code: Code | None = None
    verdict: Verdict | None = None
    cause: Cause | None = None
    needs: tuple[Fact, ...] = Field(default=(), max_length=64)

    @property
    def is_final(self) -> bool:
        """Whether an episode that ends so is judged, and waits for nobody."""
        return self.verdict not in {None, "pending"} or (self.verdict is None and self.code is not None)
