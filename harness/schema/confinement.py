"""How far what a run starts is confined: what was asked, what the machine offers, and what was seen to hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from harness.schema.base import Frozen

__all__ = ["Confinement", "Hold", "SandboxLevel", "level_of", "weakest"]

#: What was tried from inside and did not succeed: to change a file or folder outside of the workspace; its mode, owner
#: or times; to reach a listener by TCP, by UDP, by a Unix socket; to signal a process outside.
Hold = Literal["writes", "attributes", "tcp", "udp", "unix", "processes"]

SandboxLevel = Literal["none", "filesystem", "filesystem+network"]

_NETWORK: frozenset[Hold] = frozenset({"tcp", "udp", "unix"})


class Confinement(Frozen):
    """``held`` is what a child of this machine was measured to be kept from; ``means`` are those that kept it."""

    held: tuple[Hold, ...] = ()
    means: tuple[str, ...] = ()

    @property
    def level(self) -> SandboxLevel:
        """In one word."""
        return level_of(self.held)


def level_of(held: Sequence[Hold]) -> SandboxLevel:
    """``filesystem`` where nothing is written outside, ``filesystem+network`` where besides nobody is reached."""
    if "writes" not in held:
        return "none"
    return "filesystem+network" if _NETWORK.issubset(held) else "filesystem"


def weakest(several: Sequence[Confinement]) -> Confinement:
    """What held in all of them."""
    first, *rest = several
    return Confinement(
        held=tuple(hold for hold in first.held if all(hold in one.held for one in rest)),
        means=tuple(mean for mean in first.means if all(mean in one.means for one in rest)),
    )
