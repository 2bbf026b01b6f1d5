"""What a scripted actor says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.schema.base import Frozen, JsonValue

__all__ = ["Action", "NamedScript", "Script", "ScriptCall", "ScriptFile", "ScriptSet"]


class ScriptCall(Frozen):
    """One tool call of an action; string leaves of ``arguments`` may hold placeholders."""

    name: str
    arguments: dict[str, JsonValue]
    id: str | None = None


class Action(Frozen):
    """One answer; exactly one of ``command``, ``content``, ``calls``, ``raw_message``, ``raw_response``, ``raises``.

    ``command`` calls the scenario's one command tool; ``assistant_content`` is text beside it; ``replace`` is applied
    to a command or a ``content`` after substitution, in order, and each old text must be present. ``raw_message`` is
    the message object of the one choice, ``raw_response`` the whole body, ``raise`` the name of a transport failure.
    """

    command: str | None = None
    assistant_content: str | None = None
    replace: tuple[tuple[str, str], ...] = ()
    id: str | None = None
    content: str | None = None
    calls: tuple[ScriptCall, ...] | None = None
    raw_message: dict[str, JsonValue] | None = None
    raw_response: JsonValue = None
    raises: str | None = Field(default=None, alias="raise")
    usage: dict[str, int] | None = None
    finish: Literal["stop", "tool_calls", "length", "content_filter"] | None = None


#: At most a thousand answers. A bare text is ``{command = text}``.
Script = Annotated[tuple[str | Action, ...], Field(max_length=1_000)]


class ScriptSet(Frozen):
    """The scripts of a scenario: ``reference`` passes, each of ``right`` passes, each of ``wrong`` gets its code."""

    reference: Script
    right: dict[str, Script] = Field(default={}, max_length=256)
    wrong: dict[str, Script] = Field(default={}, max_length=256)


class NamedScript(Frozen):
    """One script of a file."""

    actions: Script


class ScriptFile(Frozen):
    """``{"scripts": {NAME: {"actions": [...]}}}``."""

    scripts: dict[str, NamedScript] = Field(min_length=1, max_length=1_000)
