"""Results of operations as the spool keeps them, for a driver that goes on with the episode."""

from __future__ import annotations

import json
from functools import cache

from pydantic import TypeAdapter

from harness.schema.base import Digest, JsonValue, encoding, fields_of
from harness.schema.observation import Observation

__all__ = ["kept_bytes", "observation_of"]


_SORTED = encoding(separators=(", ", ": "), allow_nan=True, default=fields_of)


def kept_bytes(state: Digest, value: JsonValue | Observation) -> bytes:
    """A result and the ``state`` of the workspace after it."""
    return _SORTED({"state": state, "value": value}).encode("ascii")


def observation_of(kept: JsonValue) -> Observation:
    """The observation that was kept. Raises ValidationError where it is none."""
    return _observations().validate_json(json.dumps(kept))


@cache
def _observations() -> TypeAdapter[Observation]:
    return TypeAdapter(Observation)
