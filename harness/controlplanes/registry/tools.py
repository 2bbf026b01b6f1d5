"""The operations of the registry as tools: what each is for, and the JSON Schema of its arguments."""

from __future__ import annotations

from typing import Final

from jsonschema import Draft202012Validator

from harness.controlplanes.registry.refusal import Refusal
from harness.schema.base import JsonValue
from harness.schema.tool import ToolSpec

__all__ = ["OPERATIONS", "READING", "STATUSES", "WATCHED", "validated"]

#: States of a task; the last one is final.
STATUSES: Final = ("open", "in_progress", "blocked", "done")
#: Operations that change nothing.
READING: Final = frozenset(("list", "get"))
#: What a watcher can wait for.
WATCHED: Final = ("claim", "update", "complete")

_NAME: Final[JsonValue] = {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,63}$"}
_TEXT: Final[JsonValue] = {"type": "string", "minLength": 1, "maxLength": 2000}
_VERSION: Final[JsonValue] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 2**53 - 1,
    "description": "The version of the task that you read last.",
}
_NAMES: Final[JsonValue] = {"type": "array", "items": _NAME, "maxItems": 32, "uniqueItems": True}
_YOU: Final[dict[str, JsonValue]] = {"id": _NAME, "agent": _NAME}
_CHANGE: Final[dict[str, JsonValue]] = {**_YOU, "version": _VERSION}


def _tool(name: str, description: str, required: dict[str, JsonValue], **optional: JsonValue) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": {**required, **optional},
            "required": list(required),
            "additionalProperties": False,
        },
    )


_TOOLS: Final = (
    _tool(
        "list",
        "Lists the tasks with status, owner and version; narrowed by status and owner where these are given.",
        {},
        status={"enum": list(STATUSES)},
        owner=_NAME,
    ),
    _tool("get", "Shows one task whole: its version, dependencies, those still open, and comments.", {"id": _NAME}),
    _tool("create", "Adds an open task.", {"id": _NAME, "title": _TEXT}, depends_on=_NAMES),
    _tool(
        "claim",
        "Makes you the owner of a task and starts it. Refused where a dependency is open or another agent owns it; "
        "force takes it from that agent and is for administrators only.",
        _CHANGE,
        force={"type": "boolean"},
    ),
    _tool(
        "update",
        "Changes a task that you own or nobody owns; the status open gives it back.",
        _CHANGE,
        title=_TEXT,
        status={"enum": ["open", "in_progress", "blocked"]},
        depends_on=_NAMES,
    ),
    _tool("complete", "Finishes a task that you own, once, with its result.", {**_CHANGE, "result": _TEXT}),
    _tool("comment", "Adds a comment to a task, whoever owns it.", {**_YOU, "text": _TEXT}),
    _tool(
        "watch",
        "Lets an agent comment on a task by itself whenever somebody did this to it.",
        {**_YOU, "after": {"enum": list(WATCHED)}, "text": _TEXT},
    ),
)

#: Every operation by its name.
OPERATIONS: Final[dict[str, ToolSpec]] = {tool.name: tool for tool in _TOOLS}
_VALIDATORS: Final = {name: Draft202012Validator(tool.parameters) for name, tool in OPERATIONS.items()}


def validated(operation: str, arguments: JsonValue) -> dict[str, JsonValue]:
    """The arguments as the operation takes them. Raises Refusal: no such operation, or what breaks its schema."""
    validator = _VALIDATORS.get(operation)
    if validator is None:
        raise Refusal("unknown_operation", f"there is no such operation; there are: {', '.join(OPERATIONS)}")
    broken = sorted(
        f"/{'/'.join(map(str, error.path))} break {error.validator}" for error in validator.iter_errors(arguments)
    )
    if broken or not isinstance(arguments, dict):
        raise Refusal("invalid_arguments", f"the arguments at {broken[0]}")
    if not all(map(_storable, arguments.values())):
        raise Refusal("invalid_arguments", "half of a surrogate pair is no character")
    return arguments


def _storable(value: JsonValue) -> bool:
    """Whether a text can be written down; JSON can carry what is no text."""
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
