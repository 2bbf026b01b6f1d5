"""Control-plane calls of the harness's own: each is made once, whoever drives the episode."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Literal

from pydantic import TypeAdapter

from harness.episode.world import World
from harness.errors import MachineError, OutOfTimeError
from harness.schema.base import JsonValue, digest_text
from harness.schema.process import Completed
from harness.schema.record import OpPlanned, OpReceipt, OpStarted

__all__ = ["plane_call"]


def plane_call(world: World, operation: str, args: tuple[str, ...], *, before: str) -> Completed:
    """A control-plane call of the harness's own, made once; a driver that goes on takes what came of it.

    ``before`` says what it is needed for. Raises OutOfTimeError where the episode's time was over first, MachineError
    where it failed and the machine lacks something.
    """
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
            raise OutOfTimeError(f"the time was over before {before}")
        world.observe_changes("control_plane")
        lacking = None if done.exit_code == 0 else world.lacking()
        if lacking is not None:
            raise MachineError(f"a call of the control plane failed, and the machine lacks something: {lacking}")
    status: Literal["succeeded", "failed"] = "succeeded" if done.exit_code == 0 else "failed"
    world.record(OpReceipt(operation=operation, attempt=1, status=status, spool=world.keep_result(_plain(done))))
    return done


def _plain(done: Completed) -> JsonValue:
    """A process's end as JSON; its streams, which may be any bytes, in base64."""
    streams = {"stdout": done.stdout, "stderr": done.stderr}
    return {**asdict(done), **{name: base64.b64encode(data).decode("ascii") for name, data in streams.items()}}


def _completed(kept: JsonValue) -> Completed:
    """The end that ``_plain`` told of."""
    fields = dict(kept) if isinstance(kept, dict) else {}
    streams = {name: base64.b64decode(str(fields[name])) for name in ("stdout", "stderr")}
    return TypeAdapter(Completed).validate_python(
        {**fields, **streams}, strict=False
    )  # strictly, only an instance is one
