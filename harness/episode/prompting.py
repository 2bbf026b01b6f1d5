"""The prompt of an episode: its producers run once, and what they made is delivered as inputs that are named."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Literal

from pydantic import TypeAdapter

from harness.episode.world import World
from harness.errors import MachineError, OutOfTimeError, SetupRejectedError
from harness.schema.base import JsonValue, digest_text
from harness.schema.message import Message, SystemMessage, UserMessage
from harness.schema.process import Completed
from harness.schema.record import InputDelivered, OpPlanned, OpReceipt, OpStarted

__all__ = ["deliver_prompt", "prompt_texts", "value_call"]

#: Longest user message, in UTF-8 bytes (runner specification case 20).
INPUT_BYTES = 65_536


def value_call(world: World, args: tuple[str, ...]) -> Completed:
    """A control-plane call that computes a late value: an operation like any other."""
    world.value_calls += 1
    operation = f"value:{world.value_calls}"
    digest = digest_text(world.placeholders.hide("\0".join(args)))
    world.record(OpPlanned(operation=operation, purpose="value", digest=digest))
    world.record(OpStarted(operation=operation, attempt=1))
    kept = world.past(operation)
    if kept is not None:
        done = _completed(kept)
        world.flag("replayed_operations")
        world.observe_changes("control_plane")
    else:
        done = world.invoke_plane(args)
        if done.timed_out and world.bounds.passed() is not None:
            raise OutOfTimeError("the time was over before the prompt was made")
        world.observe_changes("control_plane")
        lacking = None if done.exit_code == 0 else world.lacking()
        if lacking is not None:
            raise MachineError(f"a call of the control plane failed, and the machine lacks something: {lacking}")
    status: Literal["succeeded", "failed"] = "succeeded" if done.exit_code == 0 else "failed"
    world.record(OpReceipt(operation=operation, attempt=1, status=status, spool=world.keep_result(_plain(done))))
    return done


def _plain(done: Completed) -> JsonValue:
    streams = {"stdout": done.stdout, "stderr": done.stderr}
    return {**asdict(done), **{name: base64.b64encode(data).decode("ascii") for name, data in streams.items()}}


def _completed(kept: JsonValue) -> Completed:
    fields = dict(kept) if isinstance(kept, dict) else {}
    streams = {name: base64.b64decode(str(fields[name])) for name in ("stdout", "stderr")}
    return TypeAdapter(Completed).validate_python(
        {**fields, **streams}, strict=False
    )  # strictly, only an instance is one


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
