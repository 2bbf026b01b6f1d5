"""Which kind a call is of: the first kind of the file whose matchers all hold."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from harness.rules.expecting import Known, examine, same
from harness.schema.base import JsonValue
from harness.schema.command import ParsedCommand
from harness.schema.rules import KindSpec, OptionRule
from harness.schema.scenario import Scenario
from harness.schema.source import ValueSource

__all__ = ["match", "meets"]


def match(
    scenario: Scenario, *, tool: str, arguments: Mapping[str, JsonValue], parsed: ParsedCommand | None
) -> KindSpec | None:
    """The kind of a call, or None where it is of no kind.

    ``parsed`` is the reading of a command tool's command, None for any other tool. Calls of the control plane are
    matched the way a reader finds them, so a call that will be refused has a kind as well.
    """
    many = scenario.call.many if scenario.call is not None else ()
    for kind in scenario.kind:
        if kind.tool is not None and kind.tool != tool:
            continue
        if kind.is_call and not _is_such_call(kind, parsed, many):
            continue
        if not _reads_so(kind, parsed):
            continue
        if not all(not examine(dict(arguments), at, wanted) for at, wanted in kind.where.items()):
            continue
        return kind
    return None


def _is_such_call(kind: KindSpec, parsed: ParsedCommand | None, many: tuple[str, ...]) -> bool:
    if parsed is None or parsed.call is None:
        return False
    tokens = parsed.call.tokens
    if kind.call and not any(_adjacent(tokens, tuple(words.split())) for words in kind.call):
        return False
    if kind.word is not None and kind.word not in tokens:
        return False
    return all(_has_option(tokens, name, wanted, every=name in many) for name, wanted in kind.with_.items())


def meets(scenario: Scenario, rule: OptionRule, parsed: ParsedCommand, known: Known) -> bool:
    """Whether a call of the control plane has the options of the rule.

    Of one that is there more than once the last counts; of one that may be, any.
    """
    tokens = () if parsed.call is None else parsed.call.tokens
    many = () if scenario.call is None else scenario.call.many
    return all(_is_said(tokens, name, wanted, known, every=name in many) for name, wanted in rule.with_.items())


def _is_said(
    tokens: tuple[str, ...], name: str, wanted: str | bool | tuple[str, ...] | ValueSource, known: Known, *, every: bool
) -> bool:
    option = f"--{name}"
    if isinstance(wanted, bool):
        return (option in tokens) is wanted
    values = [after for token, after in pairwise(tokens) if token == option]
    values += [token.partition("=")[2] for token in tokens if token.startswith(f"{option}=")]
    values = [value for value in values if not value.startswith("--")] if every else values[-1:]
    if isinstance(wanted, ValueSource):
        return any(same(value, known(wanted)) for value in values)
    if wanted == "*":
        return any(value != "" and not value.startswith("--") for value in values)
    return any(value in ((wanted,) if isinstance(wanted, str) else wanted) for value in values)


def _reads_so(kind: KindSpec, parsed: ParsedCommand | None) -> bool:
    """Whether the reading of a command is as the kind's matchers of texts want it."""
    if kind.help is not None and (parsed is None or parsed.help is None or parsed.help.path != kind.help):
        return False
    if kind.programs and (parsed is None or not parsed.programs or not set(parsed.programs) <= set(kind.programs)):
        return False
    if kind.read is not None and not _is_such_read(kind.read, parsed):
        return False
    if kind.alternative is None:
        return True
    segments = () if parsed is None or parsed.reads is None else parsed.reads.segments
    return any(segment.operator == "||" for segment in segments) is kind.alternative


def _is_such_read(role: str, parsed: ParsedCommand | None) -> bool:
    if parsed is None:
        return False
    if role == "clock":
        return parsed.clock is not None
    return parsed.reads is not None and role in {"any", parsed.reads.role}


def _adjacent(tokens: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return any(tokens[at : at + len(words)] == words for at in range(len(tokens) - len(words) + 1))


def _has_option(tokens: tuple[str, ...], name: str, wanted: str | bool, *, every: bool) -> bool:
    """Whether the option holds: in every place it stands where it may be repeated, else in the first only."""
    option = f"--{name}"
    if isinstance(wanted, bool):
        return (option in tokens) is wanted
    values = [tokens[at + 1] for at, token in enumerate(tokens[:-1]) if token == option]
    if wanted == "*":
        return bool(values) and values[0] != "" and not values[0].startswith("--")
    return wanted in (values if every else values[:1])
