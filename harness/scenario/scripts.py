"""Script files, and what every script must keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from harness.documents import DocumentError, decoded, parse_json, read_file
from harness.errors import ScriptError
from harness.scenario.problem import KeyPath, Problem, dotted
from harness.scenario.schema_errors import schema_problems
from harness.schema.script import Action, Script, ScriptFile

__all__ = ["load_scripts", "script_problems"]

_FORMS = ("command", "content", "calls", "raw_message", "raw_response", "raises")
_FORM_NAMES = "command, content, calls, raw_message, raw_response, raise"


def load_scripts(path: Path) -> ScriptFile:
    """The scripts of a JSON file ``{"scripts": {NAME: {"actions": [...]}}}``. Raises ScriptError: one clear line."""
    try:
        text = decoded(read_file(path))
        data = parse_json(text)
    except DocumentError as error:
        place = str(path) if error.line is None else f"{path}:{error.line}"
        at = f"{dotted(error.path)}: " if error.path else ""
        allowed = f"; allowed: {error.allowed}" if error.allowed else ""
        raise ScriptError(f"{place}: {at}{error.problem}{allowed}") from None
    try:
        scripts = ScriptFile.model_validate_json(text)
    except ValidationError as error:
        raise _refusal(path, schema_problems(error, data, ScriptFile.model_json_schema())) from None
    for name, script in scripts.scripts.items():
        problems = list(script_problems(script.actions, ("scripts", name, "actions")))
        if problems:
            raise _refusal(path, problems)
    return scripts


def script_problems(script: Script, path: KeyPath) -> Iterator[Problem]:
    """Actions that are no answer or several; ``path`` is where the script stands in its file."""
    for index, action in enumerate(script):
        if isinstance(action, Action):
            yield from _action_problems(action, (*path, index))


def _action_problems(action: Action, path: KeyPath) -> Iterator[Problem]:
    given = [form for form in _FORMS if form in action.model_fields_set]
    if len(given) != 1:
        count = "more than one answer" if given else "no answer"
        yield Problem(path, f"an action that gives {count}", f"exactly one of {_FORM_NAMES}")
    elif action.replace and given not in (["command"], ["content"]):
        yield Problem((*path, "replace"), "there is no text to replace in", "beside command or content only")
    elif action.assistant_content is not None and given[0] not in ("command", "calls"):
        yield Problem((*path, "assistant_content"), "there is no call beside this text", "beside command or calls only")


def _refusal(path: Path, problems: list[Problem]) -> ScriptError:
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    allowed = f"; allowed: {first.allowed}" if first.allowed else ""
    place = f"{path}: {dotted(first.path)}" if first.path else str(path)
    return ScriptError(f"{place}: {first.text}{allowed}{more}")
