"""One scenario file, read and checked."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from harness.errors import ScenarioError
from harness.scenario.checking_answers import check_problems
from harness.scenario.checking_rules import rule_problems
from harness.scenario.checking_texts import text_problems
from harness.scenario.checking_world import world_problems
from harness.scenario.locating import line_of, lines
from harness.scenario.problem import KeyPath, Problem, dotted
from harness.scenario.schema_errors import schema_problems
from harness.schema.base import JsonValue, digest_json
from harness.schema.scenario import LoadedScenario, Scenario

__all__ = ["json_schema", "load"]

_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
_LARGEST_BYTES = 1_048_576


def load(path: Path, *, grammars: frozenset[str]) -> LoadedScenario:
    """The scenario of a TOML file, checked as a whole; ``grammars`` are the command grammars that exist.

    The digest covers what the file says beyond the defaults, in canonical form: layout, comments and written-out
    defaults do not change it. Raises ScenarioError for the first problem by line: file, line, key, what is allowed.
    """
    text = _read(path)
    data = _parse(path, text)
    try:
        scenario = Scenario.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise _refusal(path, text, schema_problems(error, data, json_schema())) from None
    name = f"{path.parent.name}/{path.stem}"
    problems = [
        *text_problems(scenario),
        *world_problems(scenario, name=name, grammars=grammars),
        *rule_problems(scenario),
        *check_problems(scenario),
    ]
    if problems:
        raise _refusal(path, text, problems)
    said = scenario.model_dump(mode="json", exclude_defaults=True)
    return LoadedScenario(scenario=scenario, digest=digest_json(said), path=str(path))


def json_schema() -> dict[str, JsonValue]:
    """The JSON Schema (2020-12) of a scenario file, for editors."""
    schema: dict[str, JsonValue] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema.update(Scenario.model_json_schema(by_alias=True))
    return schema


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScenarioError(path, f"cannot be read: {error.strerror}") from None
    if len(data) > _LARGEST_BYTES:
        raise ScenarioError(path, f"has {len(data)} bytes", allowed=f"at most {_LARGEST_BYTES}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError(path, "is no UTF-8 text", line=line) from None


def _parse(path: Path, text: str) -> JsonValue:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _LINE.search(str(error))
        line = int(place[1]) if place is not None else text.count("\n") + 1
        raise ScenarioError(path, f"is no TOML: {_LINE.sub('', str(error))}", line=line) from None
    except RecursionError:
        raise ScenarioError(path, "is nested too deeply") from None
    odd = _odd(table, ())
    if odd is not None:
        raise _refusal(path, text, [odd])
    data: JsonValue = json.loads(json.dumps(table))
    return data


def _odd(value: object, path: KeyPath) -> Problem | None:
    """The first value that TOML can say and JSON cannot."""
    if isinstance(value, Mapping):
        found = (_odd(inner, (*path, str(key))) for key, inner in value.items())
        return next((problem for problem in found if problem is not None), None)
    if isinstance(value, list):
        found = (_odd(inner, (*path, index)) for index, inner in enumerate(value))
        return next((problem for problem in found if problem is not None), None)
    if isinstance(value, float) and value - value != 0:
        return Problem(path, "not a finite number", "a finite number")
    if value is None or isinstance(value, bool | int | float | str):
        return None
    return Problem(path, f"{value} is a date or time", "text in quotation marks")


def _refusal(path: Path, text: str, problems: list[Problem]) -> ScenarioError:
    where = lines(text)
    by_line = sorted(problems, key=lambda problem: line_of(where, problem.path))
    first = by_line[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    line = line_of(where, first.path)
    return ScenarioError(path, first.text + more, line=line, key=dotted(first.path), allowed=first.allowed)
