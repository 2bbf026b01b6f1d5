"""The world of a scenario: identity, roots, files, tools, boundary, endings, scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime

from harness.errors import ScenarioError, ScriptError
from harness.scenario.fixed_clock import fixed_clock_problems
from harness.scenario.placeholders import static_values, substitute
from harness.scenario.problem import KeyPath, Problem, nearest
from harness.scenario.scripts import script_problems
from harness.schema.outcome import REASONS
from harness.schema.scenario import Scenario
from harness.schema.script import Action, Script
from harness.schema.tool import READ_MORE

__all__ = ["world_problems"]

#: Characters of a wrong value that are shown.
_SHOWN = 60
_PLANE = re.compile(r"[a-z][a-z0-9-]*==[0-9][A-Za-z0-9.+!-]*")


def world_problems(
    scenario: Scenario, *, name: str, grammars: frozenset[str], operations: Callable[[str], Collection[str] | None]
) -> Iterator[Problem]:
    """Everything outside the rules that the schema alone cannot see; ``name`` is the id that the file's path gives.

    ``operations`` gives those of a control plane that comes with harness by its name, None where none is called so.
    """
    if scenario.id != name:
        yield Problem(("id",), f"{scenario.id!r} does not fit the file's path", name)
    offered = operations(scenario.plane)
    if offered is None and not _PLANE.fullmatch(scenario.plane):
        yield Problem(("plane",), f"{scenario.plane!r} names no control plane", "name==version, or registry")
    yield from _operations(scenario, offered or ())
    yield from _roots(scenario)
    known = _known(scenario)
    yield from _places(scenario, known)
    yield from _tools(scenario, grammars, known)
    yield from fixed_clock_problems(scenario, in_process=offered is not None)
    yield from _observed(scenario)
    yield from _outcomes(scenario)
    yield from _scripts(scenario)


def _roots(scenario: Scenario) -> Iterator[Problem]:
    space = scenario.workspace
    for key in ("absent", "git"):
        for index, root in enumerate(getattr(space, key)):
            yield from _root(scenario, root, ("workspace", key, index))
            if key == "git" and root in space.absent:
                yield Problem(("workspace", key, index), f"the root {root!r} is absent", "roots that are made")
    for root in space.origin:
        if root not in space.git:
            yield Problem(("workspace", "origin", root), f"the root {root!r} is no repository", ", ".join(space.git))
    yield from _root(scenario, space.cwd, ("workspace", "cwd"))
    if space.cwd in space.absent:
        yield Problem(("workspace", "cwd"), f"the root {space.cwd!r} is absent", "a root that is made")
    for index, root in enumerate(space.roots):
        if root in space.roots[:index]:
            yield Problem(("workspace", "roots", index), f"the root {root!r} is declared twice", "each root once")


def _places(scenario: Scenario, known: Mapping[str, str]) -> Iterator[Problem]:
    space, seen = scenario.workspace, set[str]()
    for index, file in enumerate(space.file):
        for number, at in enumerate(file.at):
            path: KeyPath = ("workspace", "file", index, "at", number)
            place = _place(known, at)
            yield from _inside(scenario, place, path)
            if place.partition("/")[0] in space.absent:
                yield Problem(path, f"a file in the absent root {place.partition('/')[0]!r}", "roots that are made")
            if place in seen:
                yield Problem(path, f"{place!r} is written twice", "each place once")
            seen.add(place)
    for key in ("plane_writes", "tool_writes"):
        for index, at in enumerate(getattr(scenario.boundary, key)):
            yield from _inside(scenario, _place(known, at), ("boundary", key, index))
    when = scenario.control.completed_when
    if when is not None:
        yield from _inside(scenario, _place(known, when.file), ("control", "completed_when", "file"))


def _operations(scenario: Scenario, offered: Collection[str]) -> Iterator[Problem]:
    """Tools of the control plane are operations that it has."""
    for name, tool in scenario.plane_tools.items():
        if tool.operation not in offered:
            text = f"{scenario.plane} has no operation {tool.operation!r}{nearest(tool.operation, offered)}"
            yield Problem(("tool", name, "operation"), text, ", ".join(offered) or "a tool with argument and grammar")
    if offered:
        for path, words in _direct_calls(scenario):
            if words[0] not in offered and "{" not in words[0]:
                text = f"{scenario.plane} has no operation {words[0]!r}{nearest(words[0], offered)}"
                yield Problem((*path, "plane", 0), text, ", ".join(offered))


def _direct_calls(scenario: Scenario) -> Iterator[tuple[KeyPath, tuple[str, ...]]]:
    """Calls of the control plane that harness makes itself, each with the place of its table."""
    for index, step in enumerate(scenario.workspace.prepare):
        yield ("workspace", "prepare", index), step.plane
    if scenario.packet is not None:
        yield ("packet",), scenario.packet.plane
    for index, following in enumerate(scenario.after):
        yield ("after", index), following.plane
    for name, late in scenario.late.items():
        if late.plane:
            yield ("late", name), late.plane


def _tools(scenario: Scenario, grammars: frozenset[str], known: Mapping[str, str]) -> Iterator[Problem]:
    for name, tool in scenario.command_tools.items():
        if tool.grammar not in grammars:
            text = f"unknown grammar {tool.grammar!r}{nearest(tool.grammar, grammars)}"
            yield Problem(("tool", name, "grammar"), text, ", ".join(sorted(grammars)))
        if tool.clock is not None:
            yield from _clock(_place(known, tool.clock), ("tool", name, "clock"))
        for index, root in enumerate(tool.readable):
            yield from _root(scenario, root, ("tool", name, "readable", index))
        for key in ("content", "metadata"):
            for index, at in enumerate(getattr(tool, key)):
                yield from _inside(scenario, _place(known, at), ("tool", name, key, index))
    files = [_place(known, at) for tool in scenario.command_tools.values() for at in tool.content]
    for index, check in enumerate(scenario.check):
        if check.shows is not None and _place(known, check.shows.file) not in files:
            text = f"{check.shows.file!r} is no content file of a tool"
            yield Problem(("check", index, "shows", "file"), text, ", ".join(files))


def _observed(scenario: Scenario) -> Iterator[Problem]:
    """Where results are kept, the tool that reads on in them has its name for itself."""
    if not scenario.observe.spill:
        if scenario.observe.require_artifact:
            text = "texts that must be kept where none is kept"
            yield Problem(("observe", "require_artifact"), text, "spill = true beside it")
        return
    if READ_MORE in scenario.tool:
        yield Problem(("tool", READ_MORE), f"{READ_MORE!r} is the tool that reads on in kept results", "another name")
    for index, kind in enumerate(scenario.kind):
        if kind.name == READ_MORE:
            text = f"{READ_MORE!r} is the kind of the calls that read on in kept results"
            yield Problem(("kind", index, "name"), text, "another name")


def _clock(text: str, path: KeyPath) -> Iterator[Problem]:
    """A time that can be told in any zone, as a question for UTC may come."""
    try:
        moment = datetime.fromisoformat(text)
        readable = moment.tzinfo is not None and bool(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        readable = False
    if not readable:
        yield Problem(path, f"{text[:_SHOWN]!r} is no time", 'ISO 8601 with a zone, like "2026-01-31T12:00:00+08:00"')


def _outcomes(scenario: Scenario) -> Iterator[Problem]:
    names = [f"{status}/{reason}" for status, reasons in REASONS.items() for reason in reasons]
    for key, rule in scenario.outcomes.items():
        if not isinstance(rule, str) and rule.needs and rule.verdict != "pass":
            yield Problem(("outcomes", key, "needs"), "facts are needed for a pass only", 'verdict = "pass"')
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
        commands = any(not isinstance(act, Action) or act.command is not None for act in script)
        if commands and (len(scenario.tool) > 1 or not scenario.command_tools):
            what = "are several tools" if len(scenario.tool) > 1 else "is no tool for one"
            yield Problem(path, f"a command where there {what}", "calls, which name their tool")
    codes = scenario.codes
    for code in scenario.script.wrong:
        if code not in codes:
            text = f"{code!r} is no failure code of this scenario{nearest(code, codes)}"
            yield Problem(("script", "wrong", code), text, ", ".join(codes))


def _known(scenario: Scenario) -> Mapping[str, str]:
    """The static values; none where they lead in a circle or are too large, which is told elsewhere."""
    try:
        return static_values(scenario)
    except ScenarioError:
        return {}


def _place(known: Mapping[str, str], at: str) -> str:
    """A ``root/path`` with the static values in place; what is far too long stays as it is written."""
    try:
        return substitute(at, known.get)
    except ScriptError:
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
