"""The base of all values, canonical JSON, and digests over it."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256

from pydantic import BaseModel, ConfigDict, JsonValue

__all__ = [
    "Digest",
    "Frozen",
    "JsonValue",
    "Numerous",
    "as_json",
    "canonical_json",
    "digest_bytes",
    "digest_json",
    "digest_text",
]

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


class Numerous(Frozen):
    """A value of which a run holds as many as it has episodes: all its fields count as given.

    Which of them were is otherwise remembered by a set for each object, which is larger than the rest of it.
    """

    def model_post_init(self, _: object, /) -> None:
        """One set for all objects of the class."""
        object.__setattr__(self, "__pydantic_fields_set__", _given(type(self)))


@cache
def _given(kind: type[BaseModel]) -> set[str]:
    return set(kind.model_fields)


def as_json(value: BaseModel) -> JsonValue:
    """A value made of what JSON has, as JSON, each text and each name as it is.

    ``model_dump(mode="json")`` puts another name in place of one that holds half of a surrogate pair.
    """
    told: JsonValue = json.loads(json.dumps(value.model_dump()))
    return told


# values of JSON hold no rings, and looking for them takes a fifth of the time
_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
)


def canonical_json(value: JsonValue) -> str:
    """One text for one value: sorted keys, no spaces, no escapes beyond JSON's own."""
    return _CANONICAL.encode(value)


def digest_bytes(data: bytes) -> Digest:
    """SHA-256 of bytes as ``sha256:<hex>``."""
    return "sha256:" + sha256(data).hexdigest()


def digest_text(text: str) -> Digest:
    """SHA-256 of a text's UTF-8 form; a lone surrogate, which JSON can carry, is encoded as it is."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def digest_json(value: JsonValue) -> Digest:
    """SHA-256 of a value's canonical JSON."""
    return digest_text(canonical_json(value))
