"""Script files, and what every script must keep."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from harness.errors import ScriptError
from harness.scenario.problem import KeyPath, Problem, dotted
from harness.scenario.schema_errors import schema_problems
from harness.schema.base import JsonValue
from harness.schema.script import Action, Script, ScriptFile

__all__ = ["load_scripts", "script_problems"]

_FORMS = ("command", "content", "calls", "raw_message", "raw_response", "raises")
_FORM_NAMES = "command, content, calls, raw_message, raw_response, raise"


def load_scripts(path: Path) -> ScriptFile:
    """The scripts of a JSON file ``{"scripts": {NAME: {"actions": [...]}}}``. Raises ScriptError: one clear line."""
    try:
        text = path.read_text(encoding="utf-8")
        data: JsonValue = json.loads(text, object_pairs_hook=_unique)
    except OSError as error:
        raise ScriptError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ScriptError(f"{path}: is no UTF-8 text (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise ScriptError(f"{path}:{error.lineno}: is no JSON: {error.msg}") from None
    except RecursionError:
        raise ScriptError(f"{path}: is nested too deeply") from None
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
    elif action.replace and given != ["command"]:
        yield Problem((*path, "replace"), "there is no command to replace in", "beside command only")
    elif action.assistant_content is not None and given[0] not in ("command", "calls"):
        yield Problem((*path, "assistant_content"), "there is no call beside this text", "beside command or calls only")


def _refusal(path: Path, problems: list[Problem]) -> ScriptError:
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    allowed = f"; allowed: {first.allowed}" if first.allowed else ""
    place = f"{path}: {dotted(first.path)}" if first.path else str(path)
    return ScriptError(f"{place}: {first.text}{allowed}{more}")


def _unique(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise json.JSONDecodeError(f"the key {twice!r} is given twice", "", 0)
    return table
