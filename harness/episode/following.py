"""C16 of a call: what the harness itself asks the control plane after a call whose result holds."""

from __future__ import annotations

from collections.abc import Iterator

from harness import rules
from harness.episode.execute import observed
from harness.episode.hands import CallInHand
from harness.episode.own_calls import plane_call
from harness.episode.reading import kind_of_text
from harness.episode.sources import known_values
from harness.episode.world import World
from harness.schema.finding import Judgement
from harness.schema.following import FollowUp

__all__ = ["follow_up"]


def follow_up(world: World, hand: CallInHand, judgement: Judgement) -> Judgement:
    """The judgement after the scenario's own calls, which are not made where the result did not hold.

    Each is an operation of its own, ``turn-N/call-I/after-K``, and no call of the actor's. Raises ControlPlaneError
    where it could not be made, MachineError and OutOfTimeError where that is nobody's answer.
    """
    if judgement.code is not None or hand.kind is None:
        return judgement
    for number, follow in enumerate(_of_kind(world, hand.kind.name), 1):
        operation = f"{hand.operation}/after-{number}"
        seen = observed(plane_call(world, operation, follow.plane, before="a call could be looked at"))
        hand.after.append((follow, seen))
        findings = rules.judge_after(
            follow, seen, kind_of=lambda text: kind_of_text(world, hand, text), known=known_values(world)
        )
        if findings:
            return Judgement(code=findings[0].code, findings=findings)
    return judgement


def _of_kind(world: World, kind: str) -> Iterator[FollowUp]:
    return (follow for follow in world.scenario.after if follow.kind == kind)
