"""Calls that may be made again after their driver was killed in them, because a key tells that they are the same."""

from __future__ import annotations

from harness.episode.hands import CallInHand
from harness.episode.operations import with_operations
from harness.episode.world import World
from harness.schema.base import digest_json, digest_text

__all__ = ["call_key", "has_one_effect"]


def call_key(world: World, hand: CallInHand) -> str:
    """The same whoever drives the episode, and that of no other call, of another run of the scenario neither.

    An episode that is gone on with keeps the name of its workspace, and no two have the same.
    """
    episode = [world.key, world.workspace.root.name]
    return digest_json([*episode, hand.turn, digest_text(hand.call.id)])


def has_one_effect(world: World, hand: CallInHand) -> bool:
    """Whether the call is one of an operation that its control plane declares idempotent, and it may be repeated."""
    plane = with_operations(world.plane) if world.parts.job.options.repeat_idempotent else None
    return plane is not None and hand.plane_operation in plane.idempotent
