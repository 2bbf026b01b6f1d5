"""Control calls: what an actor says about the episode itself, and what a scenario makes of it (pure values)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from harness.schema.base import Frozen
from harness.schema.name import Pointer, WorkspacePath
from harness.schema.rules import Expectation

__all__ = [
    "CONTROL_NAMES",
    "CONTROL_TEXT_BYTES",
    "BlockedClaim",
    "CompletedWhen",
    "ControlName",
    "ControlSpec",
    "FinalizeClaim",
    "InputRequest",
]

ControlName = Literal["blocked", "request_user_input", "finalize"]
#: Names that no tool of a scenario may have, whether it offers them or not.
CONTROL_NAMES: tuple[ControlName, ...] = get_args(ControlName)
#: Longest text of a control call, in UTF-8 bytes.
CONTROL_TEXT_BYTES = 8_192


def _bounded(text: str) -> str:
    if not text.strip():
        raise ValueError("blank")
    if len(text.encode("utf-8", "surrogatepass")) > CONTROL_TEXT_BYTES:
        raise ValueError("too long")
    return text


#: Not blank, at most ``CONTROL_TEXT_BYTES`` bytes.
ControlText = Annotated[str, Field(min_length=1, max_length=CONTROL_TEXT_BYTES), AfterValidator(_bounded)]


class BlockedClaim(Frozen):
    """The actor cannot go on for a reason that lies outside of it."""

    code: Literal["external_dependency", "environment_unavailable", "policy_restriction", "resource_unavailable"]
    text: ControlText


class InputRequest(Frozen):
    """The actor asks the person whom it works for."""

    code: Literal["decision_required", "information_required"]
    text: ControlText


class FinalizeClaim(Frozen):
    """The actor says that it is done, and what it did: ``completion`` are one to four short statements.

    ``status`` is what became of the task, ``metrics`` are measured values by name, ``artifacts`` what was made.
    """

    summary: Annotated[ControlText, Field(max_length=4_000)]
    completion: Annotated[tuple[ControlText, ...], Field(min_length=1, max_length=4)]
    findings: Annotated[tuple[ControlText, ...], Field(max_length=50)] = ()
    limitations: Annotated[tuple[ControlText, ...], Field(max_length=50)] = ()
    next_steps: Annotated[tuple[ControlText, ...], Field(max_length=20)] = ()
    artifacts: Annotated[tuple[ControlText, ...], Field(max_length=100)] = ()
    status: Literal["completed", "partial", "blocked", "failed"] = "completed"
    metrics: Annotated[dict[str, int | float | str | bool], Field(max_length=100)] = {}


class CompletedWhen(Frozen):
    """The task is done once the JSON value at ``at`` in a workspace file (``root/path``) is as ``value`` expects."""

    file: WorkspacePath
    at: Pointer = ""
    value: Expectation


class ControlSpec(Frozen):
    """What ends a scenario besides its rules, and what waits.

    ``offer`` are the control tools that the actor may call. ``answers`` are given in this order to an actor that
    waits for a person; once they are used up the episode is suspended. ``no_call`` says what a reply without a call
    means: the end, one ``nudge`` and another turn, or waiting for a person. ``completed_when`` is looked at before
    every turn. ``stop_on_first_tool``: the first call that succeeds ends the episode; ``stop_at_tools``: a call of
    one of these tools that succeeds does.
    """

    offer: Annotated[tuple[ControlName, ...], Field(max_length=3)] = ()
    answers: Annotated[tuple[ControlText, ...], Field(max_length=64)] = ()
    no_call: Literal["finish", "continue", "wait_user"] = "finish"
    nudge: ControlText = (
        "No tool was called. Go on with the task by calling one, or say in one sentence why it is done."
    )
    completed_when: CompletedWhen | None = None
    stop_on_first_tool: bool = False
    stop_at_tools: Annotated[tuple[str, ...], Field(max_length=32)] = ()
