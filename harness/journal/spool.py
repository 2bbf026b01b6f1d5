"""Raw texts of an episode, by digest, beside its journal."""

from __future__ import annotations

from harness.schema.base import Digest, digest_bytes

__all__ = ["MemorySpool"]


class MemorySpool:
    """Content-addressed, in memory only: nothing of it outlives the episode."""

    def __init__(self) -> None:
        self._texts: dict[Digest, bytes] = {}

    def __repr__(self) -> str:
        return f"<MemorySpool: {len(self._texts)} texts>"

    def put(self, data: bytes) -> Digest:
        """Keep bytes; returns the digest to name them by."""
        name = digest_bytes(data)
        self._texts[name] = data
        return name

    def get(self, name: Digest) -> bytes:
        """The bytes of a digest. Raises KeyError where they are not (or no longer) kept."""
        return self._texts[name]

    def purge(self) -> None:
        """Forget everything."""
        self._texts.clear()
