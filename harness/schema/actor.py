"""Who takes the turns."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal

from harness.schema.base import Digest, Frozen
from harness.schema.message import GenerationSettings
from harness.schema.price import Price
from harness.schema.script import Script

__all__ = ["ActorIdentity", "ActorKind", "ActorSpec", "Provenance", "is_called"]

ActorKind = Literal["script", "recorded", "live"]

#: Where the exchanges of a recording come from.
Provenance = Literal["live", "simulated", "imported"]


def is_called(actor: str, pattern: str) -> bool:
    """Whether an actor is meant by a glob; what stands before its colon means it too: ``script``, ``recorded``."""
    return fnmatchcase(actor, pattern) or fnmatchcase(actor, f"{pattern}:*")


class ActorIdentity(Frozen):
    """An actor as receipts name it. ``digest`` covers script or provider, model, address and settings."""

    ref: str
    kind: ActorKind
    provider: str | None = None
    model: str | None = None
    settings: GenerationSettings | None = None
    digest: Digest


class ActorSpec(Frozen):
    """All that is needed to make an actor, picklable; a key is known by the name of its environment variable only.

    ``recording`` is the path of the recording that is replayed, ``trial`` the one trial that it holds,
    ``provenance`` where it comes from. ``price`` is what a live model costs, None where nobody knows.
    """

    identity: ActorIdentity
    script: Script | None = None
    recording: str | None = None
    trial: int | None = None
    provenance: Provenance | None = None
    base_url: str | None = None
    key_env: str | None = None
    key_required: bool = False
    price: Price | None = None
