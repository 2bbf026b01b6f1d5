"""What an episode proves, and whose fault a failure is."""

from __future__ import annotations

from typing import Literal

__all__ = ["Cause", "Verdict"]

#: ``not_judged`` says nothing about the actor: never averaged into a rate, never silently dropped.
Verdict = Literal["pass", "fail", "not_judged", "pending"]

#: The class of what went wrong; null on a pass.
Cause = Literal["model", "scenario", "control_plane", "provider", "harness"]
