"""Actors that do nothing, and actors made of a script."""

from __future__ import annotations

from harness.schema.actor import ActorIdentity, ActorSpec
from harness.schema.base import JsonValue, digest_json
from harness.schema.control import ControlSpec
from harness.schema.script import Action, Script

__all__ = ["IDLE_SCRIPTS", "idle_scripts", "script_actor"]

#: Ways of doing nothing, none of which may ever pass.
IDLE_SCRIPTS: dict[str, Script] = {
    "nothing-at-all": (Action(content=""),),
    "prose-only": (Action(content="Everything is in order; nothing has to be done."),),
}


def idle_scripts(control: ControlSpec) -> dict[str, Script]:
    """Each way of doing nothing, as often as the scenario goes on after a reply without a call."""
    times = {"finish": 1, "continue": 2, "wait_user": 1 + len(control.answers)}[control.no_call]
    return {name: script * times for name, script in IDLE_SCRIPTS.items()}


def script_actor(ref: str, script: Script) -> ActorSpec:
    """A scripted actor under the name ``ref``; its digest covers the script alone, not its name."""
    said: list[JsonValue] = [action if isinstance(action, str) else action.model_dump(mode="json") for action in script]
    return ActorSpec(identity=ActorIdentity(ref=ref, kind="script", digest=digest_json(said)), script=script)
