"""The prompt of an episode: its producers run once, and what they made is delivered as inputs that are named."""

from __future__ import annotations

from harness.episode.own_calls import plane_call
from harness.episode.world import World
from harness.errors import SetupRejectedError
from harness.schema.base import digest_text
from harness.schema.message import Message, SystemMessage, UserMessage
from harness.schema.process import Completed
from harness.schema.record import InputDelivered

__all__ = ["deliver_prompt", "prompt_texts", "value_call"]

#: Longest user message, in UTF-8 bytes (runner specification case 20).
INPUT_BYTES = 65_536


def value_call(world: World, args: tuple[str, ...]) -> Completed:
    """A control-plane call that computes a late value: an operation like any other."""
    world.value_calls += 1
    return plane_call(world, f"value:{world.value_calls}", args, before="the prompt was made")


def _deliver(world: World, name: str, text: str) -> None:
    world.record(InputDelivered(input=name, digest=digest_text(world.placeholders.hide(text))))
    world.spool.put(text.encode("utf-8", "surrogatepass"))


def _resolved(world: World, text: str, where: str) -> str:
    missing = world.values.missing(text)
    if missing:
        name = missing[0]
        problem = f"{where}: late.{name} has no value: {world.values.reason(name)}"
        raise SetupRejectedError(problem, by_plane=world.values.failed(name))
    return world.values.fill(text)


def deliver_prompt(world: World) -> None:
    """The prompt producers run once, here; what they made is named by digest."""
    prompt = world.scenario.prompt
    messages: list[Message] = []
    if prompt.system is not None:
        system = _resolved(world, prompt.system, "prompt.system")
        messages.append(SystemMessage(text=system))
        _deliver(world, "prompt.system", system)
    user = _resolved(world, prompt.user, "prompt.user")
    if not user.strip() or len(user.encode("utf-8", "surrogatepass")) > INPUT_BYTES:
        raise SetupRejectedError(f"prompt.user: must be 1 to {INPUT_BYTES} bytes and not blank")
    messages.append(UserMessage(text=user))
    _deliver(world, "prompt.user", user)
    world.values.prompt = user
    for text in prompt.must_contain:
        if _resolved(world, text, "prompt.must_contain") not in user:
            raise SetupRejectedError("prompt.must_contain: a text is not in the user message")
    world.messages.extend(messages)


def prompt_texts(world: World) -> list[str]:
    """What was delivered, in order."""
    return [message.text for message in world.messages if isinstance(message, SystemMessage | UserMessage)]
