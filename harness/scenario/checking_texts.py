"""Placeholders of a scenario: each is declared, and stands where it can be known."""

from __future__ import annotations

from collections.abc import Iterator

from harness.documents.patterns import pattern_problem
from harness.scenario.placeholders import VALUE_MAX, find_cycle, find_oversized, names_in
from harness.scenario.problem import KeyPath, Problem, nearest
from harness.schema.base import JsonValue
from harness.schema.packet import PACKET_NAME
from harness.schema.scenario import LateValue, Scenario

__all__ = ["built_in_names", "text_problems"]

_LATE_PLACES = ("prompt", "script", "pair")


def built_in_names(scenario: Scenario) -> tuple[str, ...]:
    """Names that every scenario may use: one a root, the workspace itself, and the turn's id."""
    return (*(f"{root}_root" for root in scenario.workspace.roots), "fixture_root", "turn_id")


def text_problems(scenario: Scenario) -> Iterator[Problem]:
    """Undeclared, misplaced, shadowing and circular names, and late values that cannot be resolved."""
    data: JsonValue = scenario.model_dump(mode="json", exclude_unset=True)
    packet = () if scenario.packet is None else (PACKET_NAME,)
    known = sorted({*built_in_names(scenario), *scenario.values, *scenario.late, *packet})
    for path, text in _texts(data, ()):
        for name in names_in(text):
            if name not in known:
                yield Problem(path, f"unknown placeholder {{{name}}}{nearest(name, known)}", ", ".join(known))
            else:
                yield from _misplaced(scenario, name, path)
    for path in _keys(data, ()):
        if any(name in known for name in names_in(str(path[-1]))):
            yield Problem(path, "a placeholder in a key", "placeholders in values only")
    yield from _shadowing(scenario)
    cycle = find_cycle(scenario.values)
    if cycle:
        yield Problem(("values", cycle[0]), f"values lead in a circle: {' -> '.join(cycle)}")
    large = None if cycle else find_oversized(scenario.values)
    if large is not None:
        yield Problem(("values", large), "with the values that it names it is too large", f"{VALUE_MAX} characters")
    for name, late in scenario.late.items():
        yield from _late_problems(scenario, late, ("late", name))


def _misplaced(scenario: Scenario, name: str, path: KeyPath) -> Iterator[Problem]:
    """Scripts may use any late value, the system text none of a result, the user text those of the plane only.

    The packet is for the user text alone.
    """
    late = scenario.late.get(name)
    if late is None:
        if name == PACKET_NAME and name not in scenario.values and path != ("prompt", "user"):
            yield Problem(path, "the packet is shown elsewhere", f"{{{PACKET_NAME}}} in prompt.user only")
        return
    text = f"the late value {{{name}}} is not known here"
    if path[0] not in _LATE_PLACES:
        yield Problem(path, text, "late values in prompt and script only")
    elif path[0] == "prompt" and late.answer is not None:
        yield Problem(path, text, "values from an answer in script only")
    elif path[0] == "prompt" and late.shown is not None:
        yield Problem(path, text, "values from what was shown in script only")
    elif path[:2] == ("prompt", "user") and late.prompt is not None:
        yield Problem(path, text, "values from the prompt outside prompt.user only")


def _shadowing(scenario: Scenario) -> Iterator[Problem]:
    built_in = built_in_names(scenario)
    for table, names in (("values", scenario.values), ("late", scenario.late)):
        for name in names:
            if name in built_in:
                yield Problem((table, name), f"the name {name!r} is taken", f"names other than {', '.join(built_in)}")
    for name in scenario.late:
        if name in scenario.values:
            yield Problem(("late", name), f"the name {name!r} is declared in values as well", "one of the two")


def _late_problems(scenario: Scenario, late: LateValue, path: KeyPath) -> Iterator[Problem]:
    sources = [name for name in ("plane", "prompt", "answer", "shown") if getattr(late, name) is not None]
    if len(sources) != 1:
        yield Problem(path, f"a late value with {len(sources)} sources", "exactly one of plane, prompt, answer, shown")
        return
    if late.prompt is not None or late.shown is not None:
        wrong = pattern_problem(late.prompt or late.shown or "")
        if wrong is not None:
            yield Problem((*path, sources[0]), *wrong)
        if late.at is not None:
            yield Problem((*path, "at"), "a pointer into a text", "at beside plane or answer only")
    elif late.at is None:
        yield Problem(path, "the pointer into the answer is missing", "at = a JSON pointer")
    if late.answer is not None:
        calls = [kind.name for kind in scenario.kind if scenario.is_plane_call(kind)]
        if late.answer not in calls:
            text = f"no kind {late.answer!r} that calls the control plane{nearest(late.answer, calls)}"
            yield Problem((*path, "answer"), text, ", ".join(calls))


def _texts(value: JsonValue, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*path, key))


def _keys(value: JsonValue, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _keys(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from _keys(item, (*path, key))
