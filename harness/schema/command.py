"""One command text, parsed once: this value feeds verdict, execution and redacted shape alike."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import Frozen, Plain, plain

__all__ = [
    "CallPlan",
    "CallSpec",
    "ClockPlan",
    "CommandShape",
    "GrammarContext",
    "HelpPlan",
    "ParsedCommand",
    "ReadPlan",
    "Refusal",
    "Segment",
    "TargetRole",
]

#: Why a call of the program, or a read, keeps its kind but is not run. ``ambiguous``: a shell would do something else
#: with the text than the plan does.
Refusal = Literal[
    "text_before",
    "text_after",
    "operator_in_value",
    "expansion",
    "unknown_path",
    "unknown_option",
    "repeated_option",
    "missing_value",
    "path_outside",
    "unparseable",
    "ambiguous",
]

TargetRole = Literal["content", "metadata", "other"]


class CallSpec(Frozen):
    """How a call of the control plane's program is rebuilt before it runs.

    ``allow`` lists, per call path (``"quota should-run"``), the options that may be passed, without dashes. ``set``
    replaces the value of an option that is present; ``many`` may be repeated; ``flags`` take no value; the values of
    ``inside`` are paths that must stay in the workspace. ``add`` are options with values that a call whose path allows
    them gets where it does not say them. ``volatile`` are JSON pointers into answers whose values may differ between
    two identical runs (at most 32). ``help`` are call paths whose help may be asked for. ``clock``: the control plane's
    processes see the machine's time, or, ``fixed``, the one that the tools' ``clock`` tells, which stands still.
    """

    program: str = "loopx"
    allow: dict[str, tuple[str, ...]] = Field(max_length=256)
    set: dict[str, str] = {}
    many: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    add: dict[str, str] = {}
    help: tuple[str, ...] = Field(default=(), max_length=64)
    volatile: tuple[str, ...] = Field(default=(), max_length=32)
    clock: Literal["machine", "fixed"] = "machine"


@plain
class GrammarContext(Plain):
    """What a grammar must know of the world to read a command.

    ``roots`` maps root names to absolute, symlink-free directories; ``cwd`` is the root commands run in; ``readable``
    are the roots that listings (``ls``, ``find``, ``cd``) may name besides ``cwd``. ``content`` and ``metadata`` are
    workspace paths (``project/fixture/a.json``) with those roles; every other file has the role ``other``.
    """

    profile: str
    roots: dict[str, str]
    cwd: str
    readable: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    call: CallSpec | None = None


@plain
class Segment(Plain):
    """One simple command of a read plan, rebuilt.

    ``operator`` joins it to what stands before (the first has ``;``). ``argv`` holds absolute paths only.
    ``target`` is the workspace path of the one file read (``project/fixture/a.json``), None for listings.
    ``line_limit`` pipes the output into ``head``, which keeps that many lines and whose exit state, 0, is the one that
    counts; ``formatted`` puts a JSON formatter before it. ``quiet`` drops standard error. One that is ``free`` is not
    rebuilt, and runs alone with the workspace or not at all.
    """

    operator: Literal[";", "&&", "||"]
    argv: tuple[str, ...]
    target: str | None = None
    role: TargetRole | None = None
    line_limit: int | None = None
    formatted: bool = False
    quiet: bool = False
    free: bool = False


@plain
class ReadPlan(Plain):
    """A bounded sequence of reads, or what looks like one and is not run because it is ``refused``.

    ``role``: other if any target is other, else content if any is, else metadata.
    """

    segments: tuple[Segment, ...]
    role: TargetRole
    refused: Refusal | None = None


@plain
class ClockPlan(Plain):
    """A question for the time."""

    utc: bool


@plain
class CallPlan(Plain):
    """A call of the program as a reader would find it, and as it may be run.

    ``tokens`` is everything after the program token. ``argv`` is the invocation rebuilt from the allow-list, without
    the program, or None where ``refused`` says why it is not run. ``path`` is the call path (``quota should-run``).
    """

    tokens: tuple[str, ...]
    path: str | None = None
    argv: tuple[str, ...] | None = None
    refused: Refusal | None = None


@plain
class HelpPlan(Plain):
    """A question for the help of the call path ``path``, of which the first ``lines`` are wanted."""

    path: str
    lines: int


@plain
class CommandShape(Plain):
    """What may be told of a command in a receipt: counts and yes/no only."""

    parseable: bool
    tokens: Annotated[int, Field(ge=0, le=8, description="number of tokens, 8 for eight or more")]
    family: Literal["call", "clock", "content", "metadata", "other", "unknown"]
    segments: Annotated[int, Field(ge=0, le=9, description="number of simple commands, 9 for nine or more")]
    multiline: bool
    pipe: bool
    redirect: bool
    conditional: bool
    expansion: bool
    names_content_target: bool


@plain
class ParsedCommand(Plain):
    """Every way one text can be read; a kind's matcher says which one counts.

    ``programs`` are the names of its simple commands, none where one of them could do more than read and print.
    """

    call: CallPlan | None = None
    clock: ClockPlan | None = None
    reads: ReadPlan | None = None
    help: HelpPlan | None = None
    programs: tuple[str, ...] = ()
    shape: CommandShape
