"""A finding before redaction: never written anywhere."""

from __future__ import annotations

from typing import Literal

from harness.schema.base import JsonValue, Plain, plain
from harness.schema.name import Code, Fact, KindName, Pointer

__all__ = ["FindingCheck", "Judgement", "Proposal", "RawFinding"]

#: What was looked at when it was found.
FindingCheck = Literal[
    "order", "answer", "content", "execution", "silence", "boundary", "outcome", "end", "packet", "classifier"
]


@plain
class RawFinding(Plain):
    """One thing that was found wrong. ``missing`` tells an absent value from JSON null in ``got``.

    In place of ``got``: ``steps`` are the calls that show it, by their numbers; ``path`` what changed in the workspace.
    """

    code: Code
    check: FindingCheck
    pointer: Pointer | None = None
    expected: JsonValue = None
    got: JsonValue = None
    missing: bool = False
    steps: tuple[int, ...] = ()
    path: str | None = None


@plain
class Proposal(Plain):
    """A call as proposed: its kind (None: of no kind) and the code of the rule it breaks, if any. Pure, repeatable."""

    kind: KindName | None
    code: Code | None = None


@plain
class Judgement(Plain):
    """A result as judged: no code means that it holds; then ``sets`` are the facts that become true."""

    code: Code | None = None
    findings: tuple[RawFinding, ...] = ()
    sets: tuple[Fact, ...] = ()
