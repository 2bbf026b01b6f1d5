"""What a classifier is told of an episode, and what it says of it (pure values)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import Frozen, JsonValue, Plain, plain
from harness.schema.evidence import Writer
from harness.schema.name import Code, Fact, KindName, Pointer
from harness.schema.outcome import Outcome
from harness.schema.tool import ResultCode

__all__ = [
    "Became",
    "CallEvidence",
    "ChangeEvidence",
    "ClassifierName",
    "ClassifierSpec",
    "Evidence",
    "ReceivedCall",
    "SettingProblem",
    "Violation",
]

#: As in ``by = "NAME"``: the name of a file of ours, or of a plug-in's entry point.
ClassifierName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]

#: What became of a call. ``skipped``: the episode or its turn was over first; ``blocked``: it was refused before it
#: reached anything; ``failed``: it ran and did not end well; ``executed``: it ran and did.
Became = Literal["skipped", "blocked", "failed", "executed"]


class ClassifierSpec(Frozen):
    """A classifier that the episode is shown to once it is over, and the failure code of what it finds.

    ``settings`` are its own, and it says what they may be. ``codes`` are codes of their own for some of its grounds.
    ``when``: only where the episode would pass, or wherever it is judged; then what it finds is told beside the code
    that the episode has already.
    """

    by: ClassifierName
    code: Code
    codes: dict[str, Code] = Field(default={}, max_length=128)
    when: Literal["passing", "judged"] = "passing"
    settings: dict[str, JsonValue] = Field(default={}, max_length=64)


@plain
class CallEvidence(Plain):
    """One call, in the order of the receipt's steps. Texts are as the actor wrote them: nothing of it may be shown.

    ``step`` and ``turn`` count from 1. ``tool`` is the name that was called. ``arguments`` is the JSON object, None
    where there was none; ``command`` the command of a command tool; ``operation`` that of the control plane, where the
    tool is one. ``reached_plane``: the control plane got it; ``ended_well``: what ran says so itself. ``error`` is the
    code of a typed error, ``answer`` the JSON object that the control plane answered. ``replayed``: it was made before
    the episode was gone on with, and what is measured now need not show it.
    """

    step: int
    turn: int
    tool: str
    kind: KindName | None
    became: Became
    result: ResultCode
    arguments: dict[str, JsonValue] | None = None
    command: str | None = None
    operation: str | None = None
    reached_plane: bool = False
    ended_well: bool = False
    error: str | None = None
    answer: dict[str, JsonValue] | None = None
    sets: tuple[Fact, ...] = ()
    replayed: bool = False


@plain
class ChangeEvidence(Plain):
    """One path (``root/relative``) that is not as it was when the episode began, and who changed it.

    ``allowed``: ``[boundary]`` lets that writer change it.
    """

    path: str
    change: Literal["added", "removed", "modified"]
    by: Writer
    allowed: bool


@plain
class ReceivedCall(Plain):
    """One call as the control plane's own log has it: the operation, its arguments, the code of a refusal."""

    operation: str
    arguments: JsonValue
    error: str | None = None


def _no_file(_: str) -> str | None:
    return None


@plain
class Evidence(Plain):
    """An episode that is over, as it was measured.

    ``document`` is what checks of the end look into: ``answer``, the JSON or the text of what was said last (not
    there where nothing was), and ``state``, what the control plane holds (not there where it cannot tell). ``text`` is
    what was said last as it stands. ``file`` gives the text of a workspace file (``root/path``) as it is now, None
    where there is none. ``before`` is what the control plane held when the episode began, ``received`` its own log of
    the operations that it was called for, in its order; None where it cannot tell. ``packet`` is the scenario's packet
    as the prompt showed it.
    """

    outcome: Outcome
    calls: tuple[CallEvidence, ...] = ()
    facts: tuple[Fact, ...] = ()
    document: dict[str, JsonValue] = field(default_factory=dict)
    text: str | None = None
    changes: tuple[ChangeEvidence, ...] = ()
    before: dict[str, JsonValue] | None = None
    received: tuple[ReceivedCall, ...] | None = None
    file: Callable[[str], str | None] = _no_file
    packet: JsonValue = None


@plain
class Violation(Plain):
    """One thing that a classifier found.

    ``ground`` is one of those it distinguishes, for a code of its own. ``steps`` are the calls that show it, the one it
    is about first: they are told by kind and number. Or ``path`` is what changed in the workspace; else ``got`` is what
    is there at ``pointer`` (``missing``: nothing is): a text of the settings, one of the classifier's ``phrases``, or a
    place in ``/state`` that was there before. ``expected`` is what was wanted, a value of the scenario or one of the
    ``phrases``: any other text is shown as its length and digest, and so is a number in ``got`` that is part of an
    answer, or of nobody knows what.
    """

    ground: str = ""
    steps: tuple[int, ...] = ()
    path: str | None = None
    pointer: Pointer | None = None
    expected: JsonValue = None
    got: JsonValue = None
    missing: bool = False


@plain
class SettingProblem(Plain):
    """What is wrong with a setting: keys and indices that lead to it, in words, and what is allowed there."""

    at: tuple[str | int, ...]
    text: str
    allowed: str = ""
