"""``{name}`` in the texts of a scenario: finding, resolving, replacing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from pydantic import ValidationError

from harness.errors import ScenarioError, ScriptError
from harness.schema.base import JsonValue
from harness.schema.scenario import Scenario

__all__ = ["PLACEHOLDER", "REPEAT_MAX", "bind", "find_cycle", "names_in", "static_values", "substitute"]

#: A name in braces; behind ``$`` the braces are shell text.
PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([a-z][a-z0-9_]{0,79})\}")
#: Most characters one ``{repeat:X:N}`` may make.
REPEAT_MAX: Final = 1_000_000
_REPEAT: Final = re.compile(r"(?<!\$)\{repeat:(.):([0-9]+)\}", re.DOTALL)
_REPEAT_DIGITS = len(str(REPEAT_MAX))


def names_in(text: str) -> tuple[str, ...]:
    """Every name that stands in braces in ``text``, in order."""
    return tuple(PLACEHOLDER.findall(text))


def substitute(text: str, lookup: Callable[[str], str | None]) -> str:
    """Replace ``{name}`` where ``lookup`` knows the name, and ``{repeat:X:N}`` by N times the character X.

    One pass: what is put in place is not looked at again. A name that ``lookup`` does not know stays as it is, as it
    may be text. Raises ScriptError where N is above ``REPEAT_MAX``.
    """
    parts, done = [], 0
    for match in _REPEAT.finditer(text):
        parts += [_replace(text[done : match.start()], lookup), _repeated(match[1], match[2])]
        done = match.end()
    return "".join((*parts, _replace(text[done:], lookup)))


def static_values(scenario: Scenario) -> dict[str, str]:
    """The declared static values with each other in place; names of roots and of the turn stay in braces.

    Raises ScenarioError where values lead in a circle.
    """
    cycle = find_cycle(scenario.values)
    if cycle:
        raise ScenarioError(scenario.id, f"values lead in a circle: {' -> '.join(cycle)}", key=f"values.{cycle[0]}")
    return {name: _resolved(text, scenario.values) for name, text in scenario.values.items()}


def find_cycle(values: Mapping[str, str]) -> tuple[str, ...]:
    """The names of a circle of values, its first name again at the end; empty where there is none."""
    clear: set[str] = set()
    for first in values:
        trail = [first]
        pending = [iter(names_in(values[first]))]
        while pending:
            name = next(pending[-1], None)
            if name is None:
                pending.pop()
                clear.add(trail.pop())
            elif name in trail:
                return (*trail[trail.index(name) :], name)
            elif name in values and name not in clear:
                trail.append(name)
                pending.append(iter(names_in(values[name])))
    return ()


def bind(scenario: Scenario, values: Mapping[str, str]) -> Scenario:
    """The scenario with its static values and ``values`` (roots, turn id) in place in every text.

    Late names stay in braces, and so does everything behind ``$``. Raises ScenarioError where a text no longer fits
    its place afterwards.
    """
    known = {name: _replace(text, values.get) for name, text in static_values(scenario).items()}
    known.update(values)
    data = _everywhere(scenario.model_dump(mode="json", exclude_unset=True), known)
    try:
        return Scenario.model_validate_json(json.dumps(data))
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors(include_url=False, include_input=False)[0]["loc"])
        raise ScenarioError(scenario.id, "the text does not fit its place once values are put in", key=place) from None


def _replace(text: str, lookup: Callable[[str], str | None]) -> str:
    def known(match: re.Match[str]) -> str:
        value = lookup(match[1])
        return match[0] if value is None else value

    return PLACEHOLDER.sub(known, text)


def _repeated(character: str, count: str) -> str:
    if len(count.lstrip("0")) > _REPEAT_DIGITS or int(count) > REPEAT_MAX:
        raise ScriptError(f"{{repeat:…}} asks for too many characters; allowed: at most {REPEAT_MAX}")
    return character * int(count)


def _resolved(text: str, values: Mapping[str, str]) -> str:
    return _replace(text, lambda name: _resolved(values[name], values) if name in values else None)


def _everywhere(value: JsonValue, known: Mapping[str, str]) -> JsonValue:
    if isinstance(value, str):
        return _replace(value, known.get)
    if isinstance(value, list):
        return [_everywhere(item, known) for item in value]
    if isinstance(value, dict):
        return {key: _everywhere(item, known) for key, item in value.items()}
    return value
