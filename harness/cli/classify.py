"""``harness scenario classify``: the kind, the code and the plan of commands, none of which is run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
from pydantic import TypeAdapter

from harness import wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.options import format_option
from harness.cli.output import say, say_json, table
from harness.documents import DocumentError, parse_json, read_file
from harness.errors import CatalogError, HarnessError, ScriptError, UsageError
from harness.schema.base import JsonValue
from harness.schema.command import ParsedCommand, Segment
from harness.schema.scenario import LoadedScenario

__all__ = ["classify"]

_EPILOG = """\b
Examples:
  harness scenario classify loopx/selected-todo 'date -u' 'rm -rf /'
  harness scenario classify loopx/selected-todo 'ls' --after quota_should_run
  harness scenario classify loopx/selected-todo --commands FILE --format jsonl

\b
FILE is a JSON list of {"id": TEXT, "command": TEXT}. Commands may hold the
placeholders of scripts, such as {quota_guard_command}.
"""


#: Largest file of commands, in bytes.
COMMANDS_MAX = 16 * 1024 * 1024


class _Asked(NamedTuple):
    """One command to classify; ``command`` is None where there is no text to read, ``problem`` says why."""

    id: JsonValue
    command: str | None
    problem: str | None = None


class _Row(NamedTuple):
    """What is printed of one command: as JSON, and its plan in a few words."""

    json: dict[str, JsonValue]
    plan: str


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", metavar="SCENARIO")
@click.argument("commands", nargs=-1, metavar="[COMMAND]...")
@click.option(
    "--commands",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Commands in a JSON file.",
)
@click.option(
    "--after", multiple=True, metavar="KIND", help="As if a call of this kind had succeeded before; repeatable."
)
@format_option("How the result is printed.")
def classify(name: str, commands: tuple[str, ...], file: Path | None, after: tuple[str, ...], form: str) -> ExitCode:
    """Tell the kind of each command in SCENARIO, the code it would have there, and what would be run; runs none."""
    asked = [_Asked(str(number), command) for number, command in enumerate(commands, 1)]
    asked += [] if file is None else _read(file)
    if not asked:
        raise UsageError("no command to classify; give some, or --commands FILE")
    settings = wiring.settings()
    loaded = wiring.load_scenario(settings, name)
    _known_kinds(loaded, after)
    with wiring.classifier(settings, loaded, after) as one:
        rows = (_classified(item, one) for item in asked)
        if form == "jsonl":
            for row in rows:
                say_json(row.json)
        elif form == "json":
            say_json({"commands": [row.json for row in rows]}, indent=2)
        else:
            say(_text(rows))
    return ExitCode.PASSED


def _known_kinds(loaded: LoadedScenario, after: Iterable[str]) -> None:
    known = tuple(kind.name for kind in loaded.scenario.kind)
    for kind in after:
        if kind not in known:
            raise CatalogError("kind", kind, known)


def _read(file: Path) -> list[_Asked]:
    """The commands of a file; an entry that holds none becomes one with a problem. Raises ScriptError."""
    wanted = "expected a list of objects with id and command"
    try:
        value = parse_json(read_file(file, most=COMMANDS_MAX).decode("utf-8", "surrogateescape"))
    except DocumentError as error:
        place = str(file) if error.line is None else f"{file}:{error.line}"
        problem = "is no JSON" if error.problem.startswith("is no JSON") else error.problem
        raise ScriptError(f"{place}: {problem}; {wanted}") from None
    if not isinstance(value, list):
        raise ScriptError(f"{file}: holds no list; {wanted}")
    return [_entry(number, item) for number, item in enumerate(value, 1)]


def _entry(number: int, item: JsonValue) -> _Asked:
    if not isinstance(item, dict):
        return _Asked(str(number), None, "the entry is no object with id and command")
    command = item.get("command")
    if not isinstance(command, str):
        return _Asked(item.get("id", str(number)), None, "the entry has no text command")
    return _Asked(item.get("id", str(number)), command)


def _classified(item: _Asked, one: Callable[[str], wiring.Classification]) -> _Row:
    blank: dict[str, JsonValue] = {"id": item.id, "kind": None, "code": None, "plan": None, "problem": item.problem}
    if item.command is None:
        return _Row(blank, item.problem or "-")
    try:
        found = one(item.command)
    except HarnessError as error:
        return _Row({**blank, "problem": str(error)}, str(error))
    plan = None if found.parsed is None else _plan(found.parsed)
    row = {**blank, "kind": found.kind, "code": found.code, "plan": plan, "problem": found.problem}
    return _Row(row, found.problem or ("-" if found.parsed is None else _brief(found.parsed)))


@cache
def _ways() -> TypeAdapter[ParsedCommand]:
    return TypeAdapter(ParsedCommand)


def _plan(parsed: ParsedCommand) -> JsonValue:
    told: JsonValue = _ways().dump_python(parsed, mode="json", include={"call", "clock", "reads"}, exclude_none=True)
    return told


def _brief(parsed: ParsedCommand) -> str:
    """Every way the text can be read, in a few words."""
    ways: list[str] = []
    if parsed.call is not None:
        fate = "is run" if parsed.call.refused is None else f"not run: {parsed.call.refused}"
        ways.append(f"call {parsed.call.path or '?'} ({fate})")
    if parsed.clock is not None:
        ways.append("clock")
    if parsed.reads is not None:
        way = " ".join(map(_segment, parsed.reads.segments)).removeprefix("; ")
        refused = "" if parsed.reads.refused is None else f" (not run: {parsed.reads.refused})"
        ways.append(f"{parsed.reads.role}: {way}{refused}")
    return "; ".join(ways) or "nothing that may be run"


def _segment(segment: Segment) -> str:
    limit = "" if segment.line_limit is None else f" | first {segment.line_limit}"
    limit = f" | formatted{limit}" if segment.formatted else limit
    words = [word for word in segment.argv if not word.startswith("/")]
    words += [] if segment.target is None else [segment.target]
    return f"{segment.operator} {' '.join(words)}{limit}"


def _text(rows: Iterable[_Row]) -> str:
    return table(
        ("id", "kind", "code", "plan"),
        [(*(_shown(row.json[name]) for name in ("id", "kind", "code")), _shown(row.plan)) for row in rows],
    )


def _shown(value: JsonValue) -> str:
    """One cell: control characters would break the table, so a text with any is shown as JSON."""
    if value is None:
        return "-"
    return value if isinstance(value, str) and value.isprintable() else json.dumps(value)
