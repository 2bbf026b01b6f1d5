"""T3 of a turn: the task was done outside of the replies."""

from __future__ import annotations

import json

from harness import rules
from harness.episode.hands import TurnInHand
from harness.episode.world import World
from harness.errors import SetupRejectedError
from harness.schema.base import JsonValue
from harness.schema.outcome import Outcome
from harness.schema.record import InputDelivered

__all__ = ["completed_outside", "not_done_yet"]


def completed_outside(world: World, _: TurnInHand) -> Outcome | None:
    """T3: the file that tells of the task says that it is done, whoever wrote it and whenever.

    Between two turns nothing of ours runs, so what changed since the last look is the control plane's. The state is
    kept and named in the journal: a driver that goes on after a kill takes it from there.
    """
    if world.scenario.control.completed_when is None:
        return None
    name = f"external.turn-{world.state.turn + 1}"
    ahead = world.journal.ahead
    if isinstance(ahead, InputDelivered) and ahead.input == name:
        if world.durable is not None and ahead.digest != world.latest.digest:
            world.durable.put_back(world.workspace.root, ahead.digest)
    elif ahead is not None or not _is_done(world):
        return None
    world.observe_changes("control_plane")
    world.record(InputDelivered(input=name, digest=world.latest.digest))
    return Outcome(status="completed", reason="external_completion", detail="control_plane")


def not_done_yet(world: World) -> None:
    """Raise SetupRejectedError where the task is done before anything was asked: such a world judges nobody."""
    if world.scenario.control.completed_when is not None and _is_done(world):
        raise SetupRejectedError("control.completed_when: holds before the first turn")


def _is_done(world: World) -> bool:
    wanted = world.scenario.control.completed_when
    text = None if wanted is None else world.file_text(wanted.file)
    if wanted is None or text is None:
        return False
    try:
        document: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return not rules.examine(document, wanted.at, wanted.value)
