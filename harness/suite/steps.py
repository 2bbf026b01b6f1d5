"""The steps of a walk, as strategies of hypothesis: what the scripts say, and what could be said like it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hypothesis import strategies as st

from harness.schema.base import JsonValue, canonical_json
from harness.schema.scenario import Scenario
from harness.schema.script import Action, Script, ScriptCall
from harness.schema.tool import ToolSpec
from harness.schema.trace import EpisodeTrace

__all__ = ["walks"]

#: What joins two commands.
_JOINTS: Final = (" && ", "; ", " | ", " || ", "\n")
#: Arguments that no script has.
_ODD: Final[tuple[JsonValue, ...]] = ("", " ", "\x00", -1, 0, 2**53, True, None, [], {}, "../" * 8, "ü" * 300)
#: Calls whose arguments fit, for one whose arguments may be odd: an episode goes on after the first only.
_USUAL: Final = 5
#: Calls in one answer.
_AT_ONCE: Final = 2


def walks(scenario: Scenario, traces: Sequence[EpisodeTrace]) -> st.SearchStrategy[Script]:
    """Scripts of at most one answer more than the scenario has turns, some of which begin as a right one does.

    Each answer is one of any script, a command put together from words of theirs, or calls of the offered tools with
    arguments of theirs, others that fit, and odd ones.
    """
    said = list(_said(scenario))
    kinds: list[st.SearchStrategy[str | Action]] = [st.sampled_from(said)]
    commands = [text for one in said if (text := one if isinstance(one, str) else one.command) is not None]
    if commands:
        kinds.append(_commands(commands))
    tools = [tool for trace in traces[:1] for request in trace.requests[:1] for tool in request.tools]
    offered = [tool for tool in tools if tool.name in scenario.plane_tools]
    if offered:
        kinds.append(_calls(offered, _arguments(said), sorted(scenario.values.values())))
    most = scenario.limits.model_turns + 1
    steps = st.lists(st.one_of(kinds), min_size=1, max_size=most)
    right = (scenario.script.reference, *scenario.script.right.values())
    begun = st.sampled_from([script[:at] for script in right for at in range(len(script))])
    return st.one_of(steps.map(tuple), st.tuples(begun, steps).map(lambda parts: (*parts[0], *parts[1])[:most]))


def _said(scenario: Scenario) -> Iterator[str | Action]:
    scripts = scenario.script
    seen: list[str | Action] = []
    for script in (scripts.reference, *scripts.right.values(), *scripts.wrong.values()):
        for action in script:
            if action not in seen:
                seen.append(action)
                yield action


def _commands(commands: Sequence[str]) -> st.SearchStrategy[str | Action]:
    words = sorted({word for command in commands for word in command.split(" ")})
    single = st.one_of(
        st.sampled_from(sorted(set(commands))),
        st.lists(st.sampled_from(words), min_size=1, max_size=6).map(" ".join),
    )
    joined = st.tuples(single, st.sampled_from(_JOINTS), single).map("".join)
    return st.one_of(single, joined)


def _calls(
    tools: Sequence[ToolSpec], arguments: Mapping[str, Sequence[JsonValue]], texts: Sequence[str]
) -> st.SearchStrategy[str | Action]:
    one = st.one_of([_call(tool, arguments, texts) for tool in tools])
    return st.lists(one, min_size=1, max_size=_AT_ONCE).map(lambda calls: Action(calls=tuple(calls)))


def _call(
    tool: ToolSpec, arguments: Mapping[str, Sequence[JsonValue]], texts: Sequence[str]
) -> st.SearchStrategy[ScriptCall]:
    declared, needed = tool.parameters.get("properties"), tool.parameters.get("required")
    properties = declared if isinstance(declared, dict) else {}
    required = needed if isinstance(needed, list) else []
    fitting = {
        name: st.sampled_from([*arguments.get(name, ()), *_fitting(about, texts)]) for name, about in properties.items()
    }
    usual = st.fixed_dictionaries(
        {name: one for name, one in fitting.items() if name in required},
        optional={name: one for name, one in fitting.items() if name not in required},
    )
    odd = {name: st.sampled_from([*arguments.get(name, ()), *_ODD]) for name in properties}
    mostly = st.sampled_from([*[usual] * _USUAL, st.fixed_dictionaries({}, optional=odd)])
    return mostly.flatmap(lambda made: made).map(lambda filled: ScriptCall(name=tool.name, arguments=filled))


def _fitting(about: JsonValue, texts: Sequence[str]) -> Sequence[JsonValue]:
    """Values that a JSON Schema may take; for a text, those that the scenario names."""
    table = about if isinstance(about, dict) else {}
    words = table.get("enum")
    if isinstance(words, list):
        return words
    by_type: dict[str, Sequence[JsonValue]] = {
        "integer": (1, 2, 3),
        "number": (0.5, 1),
        "boolean": (True, False),
        "array": ([],),
        "object": ({},),
    }
    return by_type.get(str(table.get("type")), (*texts, "walked"))


def _arguments(said: Sequence[str | Action]) -> Mapping[str, Sequence[JsonValue]]:
    """The values that scripts give each argument, whatever the tool."""
    found: dict[str, dict[str, JsonValue]] = {}
    for action in said:
        for call in action.calls or () if isinstance(action, Action) else ():
            for name, value in call.arguments.items():
                found.setdefault(name, {})[canonical_json(value)] = value
    return {name: list(values.values()) for name, values in found.items()}
