"""The digest of a complete effective request; a conversation grows, and what was in it before is not read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.schema.base import Digest, Frozen, JsonValue, canonical_json, digest_text
from harness.schema.message import ModelRequest

__all__ = ["RequestDigests"]


@dataclass(slots=True)
class RequestDigests:
    """Digests of one episode's requests; ``hide`` puts placeholders in the place of the workspace's paths."""

    hide: Callable[[JsonValue], JsonValue]
    _texts: dict[int, tuple[object, str]] = field(default_factory=dict)

    def of(self, request: ModelRequest) -> Digest:
        """SHA-256 of the canonical JSON of the request with its paths hidden."""
        fields = (f'"{name}":{self._text(getattr(request, name))}' for name in sorted(ModelRequest.model_fields))
        return digest_text("{" + ",".join(fields) + "}")

    def _text(self, value: JsonValue | Frozen | tuple[Frozen, ...]) -> str:
        if isinstance(value, tuple):
            return "[" + ",".join(map(self._text, value)) + "]"
        if not isinstance(value, Frozen):
            return self._canonical(value)
        known = self._texts.get(id(value))
        if known is None or known[0] is not value:
            # the value is kept with its text, so that no other one gets its place in memory
            known = self._texts[id(value)] = value, self._canonical(value.model_dump())
        return known[1]

    def _canonical(self, value: JsonValue) -> str:
        # Python's values and not pydantic's JSON: a text, a key too, may hold half of a surrogate pair
        return canonical_json(self.hide(value))
