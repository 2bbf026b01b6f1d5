"""Verdicts that are now this, now that, though nothing was changed."""

from __future__ import annotations

from harness.schema.base import Frozen
from harness.schema.qualification import Interval

__all__ = ["Flake"]


class Flake(Frozen):
    """One actor in one scenario on one control plane.

    Of ``pairs`` of runs that follow each other, with scenario, classifier, actor, model, control plane and harness the
    same in both, ``flips`` came out the other way; ``interval`` is where the share lies (Wilson, 95 %; None without a
    pair). ``runs`` is how many were looked at. ``split`` of ``repeated`` runs had trials that disagreed with each
    other; a run with one judged trial is not among them. ``is_flaky``: of a script or a recording it turned there and
    back, or its trials disagreed; of a live model, which chance moves too, it turned three times or more, and surely
    does so more often than once in ten times. ``set_aside``: in quarantine in the newest run.
    """

    scenario: str
    actor: str
    plane: str
    runs: int
    pairs: int
    flips: int
    interval: Interval | None
    repeated: int
    split: int
    passes: int
    n: int
    is_flaky: bool
    set_aside: bool = False

    @property
    def rate(self) -> float | None:
        """Flips of pairs, a share."""
        return self.flips / self.pairs if self.pairs else None
