"""The three bounds on the time of one call, and the words for each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Bounds"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """In seconds, above 0: for a connection to be made, TLS included; of silence between two pieces; in all.

    ``read_s`` None: silence is bounded by the deadline only. A bound that is not below the deadline never counts.
    """

    connect_s: float
    read_s: float | None
    deadline_s: float

    @property
    def connect(self) -> float:
        """Longest wait for a connection."""
        return min(self.connect_s, self.deadline_s)

    @property
    def silence(self) -> float:
        """Longest wait for the next piece."""
        return self.deadline_s if self.read_s is None else min(self.read_s, self.deadline_s)

    @property
    def no_connection(self) -> str:
        """What is said where no connection came."""
        return (
            f"no connection within {self.connect:g} s (connect time-out)"
            if self.connect_s < self.deadline_s
            else self.over
        )

    @property
    def silent(self) -> str:
        """What is said where nothing more came."""
        return (
            f"the provider was silent for {self.silence:g} s (read time-out)"
            if self.silence < self.deadline_s
            else self.over
        )

    @property
    def over(self) -> str:
        """What is said where the deadline passed."""
        return f"no complete answer within {self.deadline_s:g} s (deadline of the attempt)"
