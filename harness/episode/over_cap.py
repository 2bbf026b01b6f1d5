"""Calls above the cap of one turn, where the scenario answers them instead of refusing the whole reply."""

from __future__ import annotations

from harness.episode.hands import CallStop, TurnInHand

__all__ = ["notice", "over_cap"]


def over_cap(turn: TurnInHand) -> CallStop:
    """The answer to a call that was not admitted."""
    return CallStop("over_turn_cap", f"error: not run: one turn runs at most {turn.admitted} calls; ask again")


def notice(turn: TurnInHand) -> str:
    """What stands before the first result of such a reply: the actor reads it before it reads any of them."""
    total = len(turn.answer.calls)
    left_out = total - turn.admitted
    if left_out <= 0:
        return ""
    return f"[{left_out} of {total} calls were not run: one turn runs at most {turn.admitted}]\n"
