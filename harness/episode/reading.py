"""What a call asks for, before anything runs: a command that is parsed, or an operation with its arguments."""

from __future__ import annotations

from harness import command, gate, rules
from harness.episode.hands import CallInHand
from harness.episode.world import World
from harness.schema.base import Digest, JsonValue, digest_text
from harness.schema.scenario import PlaneTool

__all__ = ["command_digest", "kind_of_text", "read_call"]


def read_call(world: World, hand: CallInHand) -> bool:
    """Read a call and find its kind; False for one that can have none: C4 to C7 refuse it, and it does not run."""
    arguments = hand.call.arguments
    if arguments is None or hand.call.fault is not None:
        return False
    if gate.check_size(hand.call, argument_bytes=world.limits.argument_bytes):
        return False  # a text beyond the bound is not parsed
    tool = world.declared(hand.call.name)
    if isinstance(tool, PlaneTool):
        spec = next(spec for spec in world.tools if spec.name == hand.call.name)
        if gate.check_schema(hand.call, spec, argument_bytes=world.limits.argument_bytes):
            return False
        hand.plane_operation = tool.operation
    else:
        text = None if tool is None else arguments.get(tool.argument)
        if not isinstance(text, str):
            return False
        hand.text, hand.parsed = text, command.parse(text, world.contexts[hand.call.name])
    hand.kind = rules.match(world.scenario, tool=hand.call.name, arguments=arguments, parsed=hand.parsed)
    return True


def command_digest(world: World, hand: CallInHand) -> Digest | None:
    """Of the stripped command; None for a call without one."""
    if hand.text is None:
        return None
    return digest_text(world.placeholders.hide(hand.text).strip(command.BLANKS))


def kind_of_text(world: World, hand: CallInHand, text: str) -> str | None:
    """The kind of a command text that the answer to a call suggests: as if it were given to a command tool."""
    tools = world.scenario.command_tools
    name = hand.call.name if hand.call.name in tools else next(iter(tools), None)
    kind = None
    if name is not None:
        arguments: dict[str, JsonValue] = {tools[name].argument: text}
        parsed = command.parse(text, world.contexts[name])
        kind = rules.match(world.scenario, tool=name, arguments=arguments, parsed=parsed)
    world.kinds_of[text] = kind.name if kind else None
    return world.kinds_of[text]
