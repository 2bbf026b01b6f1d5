"""Results of operations as the spool keeps them, for a driver that goes on with the episode."""

from __future__ import annotations

from harness.schema.base import Digest, JsonValue, encoding, fields_of
from harness.schema.observation import Observation

__all__ = ["kept_bytes"]


_SORTED = encoding(separators=(", ", ": "), allow_nan=True, default=fields_of)


def kept_bytes(state: Digest, value: JsonValue | Observation) -> bytes:
    """A result and the ``state`` of the workspace after it."""
    return _SORTED({"state": state, "value": value}).encode("ascii")
