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
#: Calls in one answer.
_AT_ONCE: Final = 2


def walks(scenario: Scenario, traces: Sequence[EpisodeTrace]) -> st.SearchStrategy[Script]:
    """Scripts of at most one answer more than the scenario has turns.

    Each answer is one of any script, a command put together from words of theirs, or calls of the offered tools with
    arguments of theirs and with odd ones.
    """
    said = list(_said(scenario))
    kinds: list[st.SearchStrategy[str | Action]] = [st.sampled_from(said)]
    commands = [text for one in said if (text := one if isinstance(one, str) else one.command) is not None]
    if commands:
        kinds.append(_commands(commands))
    tools = [tool for trace in traces[:1] for request in trace.requests[:1] for tool in request.tools]
    offered = [tool for tool in tools if tool.name in scenario.plane_tools]
    if offered:
        kinds.append(_calls(offered, _arguments(said)))
    steps = st.lists(st.one_of(kinds), min_size=1, max_size=scenario.limits.model_turns + 1)
    return steps.map(tuple)


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


def _calls(tools: Sequence[ToolSpec], arguments: Mapping[str, Sequence[JsonValue]]) -> st.SearchStrategy[str | Action]:
    one = st.one_of([_call(tool, arguments) for tool in tools])
    return st.lists(one, min_size=1, max_size=_AT_ONCE).map(lambda calls: Action(calls=tuple(calls)))


def _call(tool: ToolSpec, arguments: Mapping[str, Sequence[JsonValue]]) -> st.SearchStrategy[ScriptCall]:
    properties = tool.parameters.get("properties")
    names = sorted(properties) if isinstance(properties, dict) else []
    given = {name: st.sampled_from([*arguments.get(name, ()), *_ODD]) for name in names}
    usual = {name: st.sampled_from(list(values)) for name in names if (values := arguments.get(name))}
    made = st.one_of(st.fixed_dictionaries(usual), st.fixed_dictionaries({}, optional=given))
    return made.map(lambda filled: ScriptCall(name=tool.name, arguments=filled))


def _arguments(said: Sequence[str | Action]) -> Mapping[str, Sequence[JsonValue]]:
    """The values that scripts give each argument, whatever the tool."""
    found: dict[str, dict[str, JsonValue]] = {}
    for action in said:
        for call in action.calls or () if isinstance(action, Action) else ():
            for name, value in call.arguments.items():
                found.setdefault(name, {})[canonical_json(value)] = value
    return {name: list(values.values()) for name, values in found.items()}
