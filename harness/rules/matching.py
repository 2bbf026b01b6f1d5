"""Which kind a call is of: the first kind of the file whose matchers all hold."""

from __future__ import annotations

from collections.abc import Mapping

from harness.rules.expecting import examine
from harness.schema.base import JsonValue
from harness.schema.command import ParsedCommand
from harness.schema.rules import KindSpec
from harness.schema.scenario import Scenario

__all__ = ["match"]


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
        if kind.read is not None and not _is_such_read(kind.read, parsed):
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


def _is_such_read(role: str, parsed: ParsedCommand | None) -> bool:
    if parsed is None:
        return False
    if role == "clock":
        return parsed.clock is not None
    return parsed.reads is not None and parsed.reads.role == role


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
