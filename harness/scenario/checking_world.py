"""The world of a scenario: identity, roots, files, tools, boundary, endings, scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from harness.errors import ScenarioError
from harness.scenario.placeholders import static_values, substitute
from harness.scenario.problem import KeyPath, Problem, nearest
from harness.scenario.scripts import script_problems
from harness.schema.outcome import REASONS
from harness.schema.scenario import Scenario
from harness.schema.script import Action, Script

__all__ = ["world_problems"]

_PLANE = re.compile(r"[a-z][a-z0-9-]*==[0-9][A-Za-z0-9.+!-]*")


def world_problems(scenario: Scenario, *, name: str, grammars: frozenset[str]) -> Iterator[Problem]:
    """Everything outside the rules that the schema alone cannot see; ``name`` is the id that the file's path gives."""
    if scenario.id != name:
        yield Problem(("id",), f"{scenario.id!r} does not fit the file's path", name)
    if not _PLANE.fullmatch(scenario.plane):
        yield Problem(("plane",), f"{scenario.plane!r} names no control plane", "name==version")
    yield from _roots(scenario)
    yield from _places(scenario)
    yield from _tools(scenario, grammars)
    yield from _outcomes(scenario)
    yield from _scripts(scenario)


def _roots(scenario: Scenario) -> Iterator[Problem]:
    space = scenario.workspace
    for key in ("absent", "git"):
        for index, root in enumerate(getattr(space, key)):
            yield from _root(scenario, root, ("workspace", key, index))
            if key == "git" and root in space.absent:
                yield Problem(("workspace", key, index), f"the root {root!r} is absent", "roots that are made")
    yield from _root(scenario, space.cwd, ("workspace", "cwd"))
    if space.cwd in space.absent:
        yield Problem(("workspace", "cwd"), f"the root {space.cwd!r} is absent", "a root that is made")
    for index, root in enumerate(space.roots):
        if root in space.roots[:index]:
            yield Problem(("workspace", "roots", index), f"the root {root!r} is declared twice", "each root once")


def _places(scenario: Scenario) -> Iterator[Problem]:
    space, seen = scenario.workspace, set[str]()
    for index, file in enumerate(space.file):
        for number, at in enumerate(file.at):
            path: KeyPath = ("workspace", "file", index, "at", number)
            place = _place(scenario, at)
            yield from _inside(scenario, place, path)
            if place.partition("/")[0] in space.absent:
                yield Problem(path, f"a file in the absent root {place.partition('/')[0]!r}", "roots that are made")
            if place in seen:
                yield Problem(path, f"{place!r} is written twice", "each place once")
            seen.add(place)
    for key in ("plane_writes", "tool_writes"):
        for index, at in enumerate(getattr(scenario.boundary, key)):
            yield from _inside(scenario, _place(scenario, at), ("boundary", key, index))


def _tools(scenario: Scenario, grammars: frozenset[str]) -> Iterator[Problem]:
    for name, tool in scenario.tool.items():
        if tool.grammar not in grammars:
            text = f"unknown grammar {tool.grammar!r}{nearest(tool.grammar, grammars)}"
            yield Problem(("tool", name, "grammar"), text, ", ".join(sorted(grammars)))
        for index, root in enumerate(tool.readable):
            yield from _root(scenario, root, ("tool", name, "readable", index))
        for key in ("content", "metadata"):
            for index, at in enumerate(getattr(tool, key)):
                yield from _inside(scenario, _place(scenario, at), ("tool", name, key, index))
    files = [_place(scenario, at) for tool in scenario.tool.values() for at in tool.content]
    for index, check in enumerate(scenario.check):
        if check.shows is not None and _place(scenario, check.shows.file) not in files:
            text = f"{check.shows.file!r} is no content file of a tool"
            yield Problem(("check", index, "shows", "file"), text, ", ".join(files))


def _outcomes(scenario: Scenario) -> Iterator[Problem]:
    names = [f"{status}/{reason}" for status, reasons in REASONS.items() for reason in reasons]
    for key in scenario.outcomes:
        if key not in names:
            fitting = [name for name in names if name.startswith(key.partition("/")[0] + "/")]
            allowed = ", ".join(fitting or [f"{status}/…" for status in REASONS])
            yield Problem(("outcomes", key), f"unknown outcome {key!r}{nearest(key, names)}", allowed)


def _scripts(scenario: Scenario) -> Iterator[Problem]:
    several: Mapping[str, Mapping[str, Script]] = {"right": scenario.script.right, "wrong": scenario.script.wrong}
    scripts: list[tuple[KeyPath, Script]] = [(("script", "reference"), scenario.script.reference)]
    scripts += [(("script", group, name), script) for group, named in several.items() for name, script in named.items()]
    for path, script in scripts:
        yield from script_problems(script, path)
        if len(scenario.tool) > 1 and any(not isinstance(act, Action) or act.command is not None for act in script):
            yield Problem(path, "a command where there are several tools", "calls, which name their tool")
    for code in scenario.script.wrong:
        if code not in scenario.codes:
            text = f"{code!r} is no failure code of this scenario{nearest(code, scenario.codes)}"
            yield Problem(("script", "wrong", code), text, ", ".join(scenario.codes))


def _place(scenario: Scenario, at: str) -> str:
    """A ``root/path`` with the static values in place; in a circle of values, as it is written."""
    try:
        return substitute(at, static_values(scenario).get)
    except ScenarioError:
        return at


def _root(scenario: Scenario, root: str, path: KeyPath) -> Iterator[Problem]:
    roots = scenario.workspace.roots
    if root not in roots:
        yield Problem(path, f"unknown root {root!r}{nearest(root, roots)}", ", ".join(roots))


def _inside(scenario: Scenario, place: str, path: KeyPath) -> Iterator[Problem]:
    root, _, rest = place.partition("/")
    yield from _root(scenario, root, path)
    if not rest or any(part in ("", ".", "..") for part in rest.split("/")):
        yield Problem(path, f"{place!r} is no path below a root", "root/path without . and ..")
