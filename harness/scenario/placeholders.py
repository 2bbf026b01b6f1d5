"""``{name}`` in the texts of a scenario: finding, resolving, replacing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pydantic import ValidationError, create_model

from harness.documents.locating import line_in_file
from harness.errors import ScenarioError, ScriptError
from harness.scenario.problem import KeyPath, Problem, dotted
from harness.scenario.schema_errors import schema_problems
from harness.schema.base import Frozen, JsonValue
from harness.schema.remembering import remembered
from harness.schema.scenario import Scenario

__all__ = [
    "BOUND_MAX",
    "PLACEHOLDER",
    "REPEAT_MAX",
    "VALUE_MAX",
    "bind",
    "find_cycle",
    "find_oversized",
    "names_in",
    "static_values",
    "substitute",
]

#: A name in braces; behind ``$`` the braces are shell text.
PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([a-z][a-z0-9_]{0,79})\}")
#: Most characters that the ``{repeat:X:N}`` of one text may make together.
REPEAT_MAX: Final = 1_000_000
#: Longest static value with the values that it names in place, in characters.
VALUE_MAX: Final = 65_536
#: Most characters that all texts of a scenario, or one text of a script, may have once values are in place.
BOUND_MAX: Final = 8_388_608
_REPEAT: Final = re.compile(r"(?<!\$)\{repeat:(.):([0-9]+)\}", re.DOTALL)
_REPEAT_DIGITS = len(str(REPEAT_MAX))


def names_in(text: str) -> tuple[str, ...]:
    """Every name that stands in braces in ``text``, in order."""
    return tuple(PLACEHOLDER.findall(text)) if "{" in text else ()


def substitute(text: str, lookup: Callable[[str], str | None]) -> str:
    """Replace ``{name}`` where ``lookup`` knows the name, and ``{repeat:X:N}`` by N times the character X.

    One pass: what is put in place is not looked at again. A name that ``lookup`` does not know stays as it is, as it
    may be text. Raises ScriptError where all N together are above ``REPEAT_MAX``, or the whole is above ``BOUND_MAX``.
    """
    room = _Room()
    if "{" not in text:
        return room.replace(text, lookup)
    parts, done, repeated = [], 0, 0
    for match in _REPEAT.finditer(text):
        repeated += _count(match[2])
        if repeated > REPEAT_MAX:
            raise ScriptError(f"{{repeat:…}} asks for too many characters; allowed: at most {REPEAT_MAX}")
        parts += [room.replace(text[done : match.start()], lookup), match[1] * _count(match[2])]
        done = match.end()
    return "".join((*parts, room.replace(text[done:], lookup)))


@remembered(64)
def static_values(scenario: Scenario) -> dict[str, str]:
    """The declared static values with each other in place; names of roots and of the turn stay in braces.

    The result is shared: not to be changed. Raises ScenarioError where values lead in a circle, or where one is longer
    than ``VALUE_MAX``.
    """
    cycle = find_cycle(scenario.values)
    if cycle:
        raise ScenarioError(scenario.id, f"values lead in a circle: {' -> '.join(cycle)}", key=f"values.{cycle[0]}")
    found, large = _resolved(scenario.values)
    if large is not None:
        text, allowed = "with the values that it names it is too large", f"{VALUE_MAX} characters"
        raise ScenarioError(scenario.id, text, key=f"values.{large}", allowed=allowed)
    return found


def find_oversized(values: Mapping[str, str]) -> str | None:
    """The first value that is longer than ``VALUE_MAX`` with others in place; the values lead in no circle."""
    return _resolved(values)[1]


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


def bind(scenario: Scenario, values: Mapping[str, str], source: str = "") -> Scenario:
    """The scenario with its static values and ``values`` (roots, turn id) in place in every text.

    Late names stay in braces, and so does everything behind ``$``. ``source`` is the file that it comes from. Raises
    ScenarioError (file, line, key) where a text no longer fits its place afterwards, or all are longer than
    ``BOUND_MAX``; what was put in is not shown.
    """
    room = _Room()
    known = {name: room.replace(text, values.get) for name, text in static_values(scenario).items()}
    known.update(values)
    whole = _plain(scenario)
    try:
        data = _put_in(scenario, whole, known, room)
        if data == whole:
            return scenario
        return _with_texts(scenario, whole, data)
    except _TooLongError as error:
        problem = Problem(error.path, "too long once values are put in", f"at most {BOUND_MAX} characters in all")
    except ValidationError as error:
        found = schema_problems(error, whole, Scenario.model_json_schema(by_alias=True))[0]
        problem = Problem(found.path, "the text does not fit its place once values are put in", found.allowed)
    line = line_in_file(source, problem.path) if source else None
    raise ScenarioError(
        source or scenario.id, problem.text, line=line, key=dotted(problem.path), allowed=problem.allowed
    )


def _with_texts(scenario: Scenario, whole: JsonValue, data: JsonValue) -> Scenario:
    """The scenario that ``data`` says; only parts that differ from ``whole`` are made anew. Raises ValidationError."""
    before, after = (value if isinstance(value, dict) else {} for value in (whole, data))
    changed: dict[str, JsonValue] = {}
    for name in Scenario.model_fields:
        old, new = before.get(name), after.get(name)
        if new is not old and new != old:  # what nothing was put into is the very same value
            changed[name] = new
    made = _part(tuple(changed)).model_validate_json(json.dumps(changed))
    return scenario.model_copy(update={name: getattr(made, name) for name in changed})


@lru_cache(maxsize=64)
def _part(names: tuple[str, ...]) -> type[Frozen]:
    """Some fields of a scenario, checked as the scenario checks them: no field's check asks for another field."""
    fields = {name: (field.annotation, field) for name, field in Scenario.model_fields.items() if name in names}
    return create_model("Part", __base__=Frozen, **fields)  # type: ignore[call-overload,no-any-return]


@remembered(64)
def _plain(scenario: Scenario) -> JsonValue:
    """What the scenario's file says; not to be changed."""
    plain: JsonValue = scenario.model_dump(mode="json", exclude_unset=True)
    return plain


@dataclass(frozen=True, slots=True)
class _Spots:
    """Where in a value texts have braces, as a tree (None: here); and how many characters all other texts have."""

    inner: Mapping[str | int, _Spots] | None
    rest: int


def _spots(value: JsonValue) -> _Spots:
    if isinstance(value, str):
        return _Spots(None, 0) if "{" in value else _Spots({}, len(value))
    items: Iterable[tuple[str | int, JsonValue]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    found = {key: _spots(item) for key, item in items}
    rest = sum(one.rest for one in found.values())
    return _Spots({key: one for key, one in found.items() if one.inner is None or one.inner}, rest)


@remembered(64)
def _spots_of(scenario: Scenario) -> _Spots:
    return _spots(_plain(scenario))


def _put_in(scenario: Scenario, whole: JsonValue, known: Mapping[str, str], room: _Room) -> JsonValue:
    """``whole`` with what is known in place. Raises _TooLongError, which leads to the text that had no room."""
    spots, before = _spots_of(scenario), room.left
    try:
        room.take(spots.rest)
        return _at_spots(whole, spots, known, room)
    except _TooLongError:
        room.left = before
        return _everywhere(whole, known, room, ())


def _at_spots(value: JsonValue, spots: _Spots, known: Mapping[str, str], room: _Room) -> JsonValue:
    """As ``_everywhere``; what has no braces in it is taken over as it is."""
    if isinstance(value, str):
        return room.replace(value, known.get) if spots.inner is None else value
    if isinstance(value, list):
        items = list(value)
        for index, inner in (spots.inner or {}).items():
            items[int(index)] = _at_spots(items[int(index)], inner, known, room)
        return items
    if isinstance(value, dict):
        table = dict(value)
        for key, inner in (spots.inner or {}).items():
            table[str(key)] = _at_spots(table[str(key)], inner, known, room)
        return table
    return value


class _TooLongError(ScriptError):
    """Too many characters would come of a text; ``path`` leads to it in its scenario."""

    def __init__(self) -> None:
        self.path: KeyPath = ()
        super().__init__(f"too long once values are put in; allowed: at most {BOUND_MAX} characters")


class _Room:
    """Replaces, and counts the characters that come of it: a few short names can stand for very long texts."""

    def __init__(self) -> None:
        self.left = BOUND_MAX

    def replace(self, text: str, lookup: Callable[[str], str | None]) -> str:
        """The text with every known name replaced. Raises _TooLongError where no room is left."""
        self.take(len(text))
        if "{" not in text:
            return text

        def known(match: re.Match[str]) -> str:
            value = lookup(match[1])
            if value is None:
                return match[0]
            self.take(len(value))
            return value

        return PLACEHOLDER.sub(known, text)

    def take(self, characters: int) -> None:
        """Use up room. Raises _TooLongError where there is none."""
        self.left -= characters
        if self.left < 0:
            raise _TooLongError


def _count(digits: str) -> int:
    return int(digits) if len(digits.lstrip("0")) <= _REPEAT_DIGITS else REPEAT_MAX + 1


def _resolved(values: Mapping[str, str]) -> tuple[dict[str, str], str | None]:
    """Values with each other in place, those that others name first; stops at one that is too long and names it."""
    done: dict[str, str] = {}
    for first in values:
        trail = [first]
        while trail:
            name = trail[-1]
            wanted = {inner for inner in names_in(values[name]) if inner in values and inner not in done}
            if wanted:
                trail.extend(wanted)
                continue
            trail.pop()
            if name in done:
                continue
            length = len(values[name]) + sum(len(done.get(inner, "")) for inner in names_in(values[name]))
            if length > VALUE_MAX:
                return done, name
            done[name] = PLACEHOLDER.sub(lambda match: done.get(match[1], match[0]), values[name])
    return done, None


def _everywhere(value: JsonValue, known: Mapping[str, str], room: _Room, path: KeyPath) -> JsonValue:
    if isinstance(value, str):
        try:
            return room.replace(value, known.get)
        except _TooLongError as error:
            error.path = path
            raise
    if isinstance(value, list):
        return [_everywhere(item, known, room, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _everywhere(item, known, room, (*path, key)) for key, item in value.items()}
    return value
