"""One scenario file, read and checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from harness.documents import DocumentError, decoded, parse_toml, read_file
from harness.documents.locating import line_of, lines
from harness.errors import ScenarioError
from harness.ports import Classifiers
from harness.scenario.checking_answers import check_problems
from harness.scenario.checking_classifiers import NoClassifiers, classifier_problems, setting_problems
from harness.scenario.checking_control import control_problems
from harness.scenario.checking_faults import fault_problems
from harness.scenario.checking_following import following_problems
from harness.scenario.checking_packet import packet_problems
from harness.scenario.checking_rules import rule_problems
from harness.scenario.checking_texts import built_in_names, text_problems
from harness.scenario.checking_world import world_problems
from harness.scenario.parts import digest_and_parts
from harness.scenario.placeholders import bind
from harness.scenario.problem import Problem, dotted
from harness.scenario.schema_errors import schema_problems
from harness.scenario.variants import Varied, pair_problems, variant_names, varied
from harness.schema.base import JsonValue
from harness.schema.scenario import LoadedScenario, Scenario

__all__ = ["json_schema", "load"]


_NONE: Final = NoClassifiers()


def _none_built_in(_: str) -> None:
    return None


def load(
    path: Path,
    *,
    grammars: frozenset[str],
    operations: Callable[[str], Collection[str] | None] = _none_built_in,
    variant: str | None = None,
    classifiers: Classifiers = _NONE,
) -> LoadedScenario:
    """The scenario of a TOML file, or a variant of it, checked as a whole.

    ``grammars`` are the command grammars that exist.

    ``operations`` gives those of a control plane that comes with harness by its name, None where none is called so.
    ``classifiers`` are those that a scenario may name.

    The digest covers what the file says beyond the defaults, in canonical form: layout, comments and written-out
    defaults do not change it, nor does what no episode depends on (``asks``, ``tags``, scripts). Raises ScenarioError
    for the first problem by line: file, line, key, what is allowed; EnvironmentProblem for a classifier that cannot be
    used.
    """
    text, data = _parsed(path)
    made, wrong = varied(data, variant)
    if wrong:
        raise _refusal(path, text, wrong)
    try:
        scenario = Scenario.model_validate_json(json.dumps(made.data))
    except ValidationError as error:
        raise _refusal(path, text, schema_problems(error, made.data, json_schema()), made) from None
    name = f"{path.parent.name}/{path.stem}" + ("" if variant is None else f"-{variant}")
    problems = [
        *text_problems(scenario),
        *world_problems(scenario, name=name, grammars=grammars, operations=operations),
        *rule_problems(scenario),
        *check_problems(scenario),
        *following_problems(scenario),
        *control_problems(scenario),
        *fault_problems(scenario),
        *pair_problems(scenario, variant_names(data)),
        *packet_problems(scenario),
        *classifier_problems(scenario, classifiers),
    ]
    if problems:
        raise _refusal(path, text, problems, made)
    # what shows only once values are in place is told now, with any paths, and not in the middle of a run
    bound = bind(scenario, {name: f"/{name}" for name in built_in_names(scenario)}, source=str(path))
    problems = list(setting_problems(bound, classifiers))
    if problems:
        raise _refusal(path, text, problems, made)
    digest, parts = digest_and_parts(scenario)
    versions = {spec.by: classifiers.find(spec.by).version for spec in scenario.classify}
    return LoadedScenario(scenario=scenario, digest=digest, parts=parts, path=str(path), classifiers=versions)


def json_schema() -> dict[str, JsonValue]:
    """The JSON Schema (2020-12) of a scenario file, for editors."""
    schema = _schema()
    properties = schema["properties"]
    if isinstance(properties, dict):
        keys: dict[str, JsonValue] = {key: True for key in properties if key not in {"schema", "id", "plane", "pair"}}
        keys["drop"] = {"type": "array", "items": {"type": "string"}}
        said: JsonValue = "Parts that are replaced; see the same keys of the file."
        one: JsonValue = {"type": "object", "description": said, "properties": keys, "additionalProperties": False}
        variant: JsonValue = {"type": "object", "additionalProperties": one}
        schema["properties"] = {**properties, "variant": variant}
    return schema


def _schema() -> dict[str, JsonValue]:
    """Of what a file says without its variants."""
    schema: dict[str, JsonValue] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    schema.update(Scenario.model_json_schema(by_alias=True))
    return schema


def _parsed(path: Path) -> tuple[str, JsonValue]:
    """The file's text and its tables."""
    text = ""
    try:
        text = decoded(read_file(path))
        return text, parse_toml(text)
    except DocumentError as error:
        line = line_of(lines(text), error.path) if error.path else error.line
        raise ScenarioError(path, error.problem, line=line, key=dotted(error.path), allowed=error.allowed) from None


def _refusal(path: Path, text: str, problems: list[Problem], made: Varied | None = None) -> ScenarioError:
    where = lines(text)
    placed = [(one.path if made is None else made.in_file(one.path), one) for one in problems]
    by_line = sorted(placed, key=lambda found: line_of(where, found[0]))
    place, first = by_line[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return ScenarioError(path, first.text + more, line=line_of(where, place), key=dotted(place), allowed=first.allowed)
