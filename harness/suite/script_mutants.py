"""A passing script with one thing wrong: an answer dropped, swapped, repeated, or one argument altered."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from harness.schema.base import JsonValue
from harness.schema.script import Action, Script, ScriptCall
from harness.schema.trace import EpisodeTrace

__all__ = ["Mutant", "mutants_of"]

_ALTERED = "-altered"


@dataclass(frozen=True, slots=True)
class Mutant:
    """``mutation`` is its name: ``drop N``, ``swap N``, ``repeat N``, or ``alter N PLACE``; N counts from 1."""

    mutation: str
    script: Script


def mutants_of(script: Script, trace: EpisodeTrace) -> Iterator[Mutant]:
    """Every mutant of a script; ``trace`` is of the episode in which it passed.

    A word of a command is altered in the command as it really was, all of the same words at once. Words that are
    options, operators or numbers of one digit stay; of a path in the temporary folder its last part is altered.
    """
    for at in range(len(script)):
        yield Mutant(f"drop {at + 1}", script[:at] + script[at + 1 :])
    for at in range(len(script) - 1):
        if script[at] != script[at + 1]:
            swapped = (*script[:at], script[at + 1], script[at], *script[at + 2 :])
            yield Mutant(f"swap {at + 1}", swapped)
    for at, action in enumerate(script):
        yield Mutant(f"repeat {at + 1}", (*script[:at], action, *script[at:]))
    commands = iter([step.command for step in trace.steps if step.command is not None])
    for at, said in enumerate(script):
        action = said if isinstance(said, Action) else Action(command=said)
        command = next(commands, None) if action.command is not None else None
        for place, other in chain(_of_command(action, command), _of_calls(action), _of_content(action, trace)):
            yield Mutant(f"alter {at + 1} {place}", (*script[:at], other, *script[at + 1 :]))


def _of_command(action: Action, command: str | None) -> Iterator[tuple[str, Action]]:
    if command is None:
        return
    for word in dict.fromkeys(_words(command)):
        if word.startswith("/"):
            word = word.rpartition("/")[2]  # noqa: PLW2901  (what is before it differs from episode to episode)
        if len(word) > 1 and not word.startswith("-") and any(letter.isalnum() for letter in word):
            replaced = (*action.replace, (word, f"{word}{_ALTERED}"))
            yield word, action.model_copy(update={"replace": replaced})


def _words(command: str) -> Sequence[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _of_calls(action: Action) -> Iterator[tuple[str, Action]]:
    calls = action.calls or ()
    for number, call in enumerate(calls):
        name = call.name if [one.name for one in calls].count(call.name) == 1 else f"{call.name}#{number + 1}"
        for at, arguments in _leaves(call.arguments, ""):
            if isinstance(arguments, dict):
                changed = ScriptCall(name=call.name, arguments=arguments, id=call.id)
                yield (
                    f"{name}{at}",
                    action.model_copy(update={"calls": (*calls[:number], changed, *calls[number + 1 :])}),
                )


def _of_content(action: Action, trace: EpisodeTrace) -> Iterator[tuple[str, Action]]:
    """What is said at the end, where checks of the end look at it."""
    answer = None if trace.ending is None else trace.ending.get("answer")
    if action.content is None or answer is None:
        return
    for at, other in _leaves(answer, ""):
        yield f"content{at}", action.model_copy(update={"content": json.dumps(other)})


def _leaves(value: JsonValue, at: str) -> Iterator[tuple[str, JsonValue]]:
    """The value with each of its leaves altered in turn, and where."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            for below, other in _leaves(inner, f"{at}/{key.replace('~', '~0').replace('/', '~1')}"):
                yield below, {**value, key: other}
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            for below, other in _leaves(inner, f"{at}/{index}"):
                yield below, [*value[:index], other, *value[index + 1 :]]
    elif at:
        yield at, _altered(value)


def _altered(leaf: JsonValue) -> JsonValue:
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int | float):
        return leaf + 1
    if isinstance(leaf, str):
        return f"{leaf}{_ALTERED}"
    return [_ALTERED] if isinstance(leaf, list) else _ALTERED
