"""The base of all values, canonical JSON, and digests over it."""

from __future__ import annotations

import json
from hashlib import sha256

from pydantic import BaseModel, ConfigDict, JsonValue

__all__ = ["Digest", "Frozen", "JsonValue", "canonical_json", "digest_bytes", "digest_json", "digest_text"]

#: ``sha256:`` and 64 lower-case hexadecimal digits.
Digest = str


class Frozen(BaseModel):
    """A value: cannot be changed, refuses unknown fields, converts nothing."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


def canonical_json(value: JsonValue) -> str:
    """One text for one value: sorted keys, no spaces, no escapes beyond JSON's own."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_bytes(data: bytes) -> Digest:
    """SHA-256 of bytes as ``sha256:<hex>``."""
    return "sha256:" + sha256(data).hexdigest()


def digest_text(text: str) -> Digest:
    """SHA-256 of a text's UTF-8 form; a lone surrogate, which JSON can carry, is encoded as it is."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def digest_json(value: JsonValue) -> Digest:
    """SHA-256 of a value's canonical JSON."""
    return digest_text(canonical_json(value))
