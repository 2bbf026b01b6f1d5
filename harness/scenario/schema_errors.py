"""What pydantic found wrong, in our words: the place, the problem, and what the schema allows there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import ValidationError

from harness.scenario.problem import KeyPath, Problem, nearest
from harness.schema.base import JsonValue
from harness.schema.pointer import MISSING, Missing

__all__ = ["schema_problems"]

_WORDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a table",
    "array": "an array",
}
_BOUNDS: Final = {
    "minimum": ">= {}",
    "exclusiveMinimum": "> {}",
    "maximum": "<= {}",
    "exclusiveMaximum": "< {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "minProperties": "at least {} entries",
    "maxProperties": "at most {} entries",
    "pattern": "matching {}",
}
_SHOWN = 60
_UNKNOWN = "unknown key"

_Node = Mapping[str, JsonValue]


def schema_problems(error: ValidationError, data: JsonValue, schema: _Node) -> list[Problem]:
    """One problem for each place; of the alternatives of a union only those that came deepest.

    ``data`` is what was validated, ``schema`` the JSON Schema of its model.
    """
    found: dict[KeyPath, Problem] = {}
    for item in error.errors(include_url=False, include_context=False):
        path = _place(item["loc"], data, missing=item["type"] == "missing")
        found.setdefault(path, _problem(item["type"], item["loc"], path, data, schema))
    kept = [problem for path, problem in found.items() if not any(_is_inside(other, path) for other in found)]
    # a misspelt key leaves another one missing: the key that stands there is the one to be told first
    return sorted(kept, key=lambda problem: not problem.text.startswith(_UNKNOWN))


def _problem(code: str, loc: Sequence[str | int], path: KeyPath, data: JsonValue, schema: _Node) -> Problem:
    if code == "json_invalid":
        return Problem(path, "half of a surrogate pair is no character")
    if code == "missing":
        what = "key" if isinstance(path[-1], str) else "entry"
        return Problem(path, f"this {what} is missing", _allowed(schema, path))
    if code == "extra_forbidden":
        known = sorted(_keys(schema, path[:-1], without=path[-1]))
        return Problem(path, f"{_UNKNOWN} {path[-1]!r}{nearest(str(path[-1]), known)}", ", ".join(known))
    if loc and loc[-1] == "[key]":
        return Problem(path, f"{path[-1]!r} cannot be a name here", _allowed_key(schema, path[:-1]))
    return Problem(path, f"{_shown(data, path)} cannot stand here", _allowed(schema, path))


def _place(loc: Sequence[str | int], data: JsonValue, *, missing: bool) -> KeyPath:
    """The part of pydantic's location that is a path in the data; the rest names alternatives of a union."""
    path: KeyPath = ()
    for part in loc[:-1] if missing else loc:
        inner = _member(data, part)
        if inner is not MISSING:
            path, data = (*path, part), inner
    return (*path, loc[-1]) if missing else path


def _member(data: JsonValue, part: str | int) -> JsonValue | Missing:
    if isinstance(data, dict) and isinstance(part, str):
        return data.get(part, MISSING)
    if isinstance(data, list) and isinstance(part, int):
        return data[part]
    return MISSING


def _is_inside(path: KeyPath, outer: KeyPath) -> bool:
    return len(path) > len(outer) and path[: len(outer)] == outer


def _shown(data: JsonValue, path: KeyPath) -> str:
    value: JsonValue | Missing = data
    for part in path:
        value = value if value is MISSING else _member(value, part)
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    text = json.dumps(None if value is MISSING else value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"a text of {len(text)} characters"


def _nodes(schema: _Node, path: KeyPath) -> list[_Node]:
    """Every alternative of the schema at a path."""
    nodes = list(_alternatives(schema, schema))
    for part in path:
        nodes = [inner for node in nodes for child in _children(node, part) for inner in _alternatives(child, schema)]
    return nodes


def _alternatives(node: JsonValue | _Node, schema: _Node) -> Iterator[_Node]:
    if not isinstance(node, Mapping):
        return
    reference, options = node.get("$ref"), node.get("anyOf", node.get("oneOf"))
    if isinstance(reference, str):
        definitions = schema["$defs"]
        if isinstance(definitions, dict):
            yield from _alternatives(definitions[reference.rpartition("/")[2]], schema)
    elif isinstance(options, list):
        for option in options:
            yield from _alternatives(option, schema)
    else:
        yield node


def _children(node: _Node, part: str | int) -> Iterator[JsonValue]:
    if isinstance(part, int):
        fixed = node.get("prefixItems")
        yield fixed[part] if isinstance(fixed, list) and part < len(fixed) else node.get("items")
        return
    properties, patterns = node.get("properties"), node.get("patternProperties")
    if isinstance(properties, dict) and part in properties:
        yield properties[part]
    elif isinstance(patterns, dict):
        yield from patterns.values()
    else:
        yield node.get("additionalProperties")


def _keys(schema: _Node, path: KeyPath, *, without: str | int) -> set[str]:
    """The keys that may stand at a path, of those alternatives that have no key ``without``."""
    properties = [node.get("properties") for node in _nodes(schema, path)]
    return {name for table in properties if isinstance(table, dict) and without not in table for name in table}


def _allowed_key(schema: _Node, path: KeyPath) -> str:
    patterns = [node.get("patternProperties") for node in _nodes(schema, path)]
    return " or ".join(f"text matching {pattern}" for table in patterns if isinstance(table, dict) for pattern in table)


def _allowed(schema: _Node, path: KeyPath) -> str:
    described = [_described(node) for node in _nodes(schema, path)]
    return " or ".join(dict.fromkeys(text for text in described if text))


def _described(node: _Node) -> str:
    members = node.get("enum")
    if isinstance(members, list):
        return ", ".join(json.dumps(member) for member in members)
    if "const" in node:
        return json.dumps(node["const"])
    word = _WORDS.get(str(node.get("type")), "")
    if not word:
        return ""
    bounds = [text.format(node[name]) for name, text in _BOUNDS.items() if name in node]
    return f"{word} ({', '.join(bounds)})" if bounds else word
