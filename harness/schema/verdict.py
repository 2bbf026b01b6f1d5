"""What an episode proves, and whose fault a failure is."""

from __future__ import annotations

from typing import Final, Literal

__all__ = ["JUDGED", "Cause", "Verdict"]

#: ``not_judged`` says nothing about the actor: never averaged into a rate, never silently dropped.
Verdict = Literal["pass", "fail", "not_judged", "pending"]
#: Those that say something about the actor.
JUDGED: Final[frozenset[Verdict]] = frozenset({"pass", "fail"})

#: The class of what went wrong; null on a pass.
Cause = Literal["model", "scenario", "control_plane", "provider", "harness"]
