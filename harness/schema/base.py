"""The base of all values, canonical JSON, and digests over it."""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import ClassVar, Final, Protocol, TypeVar, dataclass_transform

from pydantic import BaseModel, ConfigDict, JsonValue, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

__all__ = [
    "OF_ITS_TYPE",
    "SAME_ERRORS",
    "Digest",
    "Frozen",
    "JsonValue",
    "Numerous",
    "Plain",
    "as_json",
    "canonical_json",
    "digest_bytes",
    "digest_json",
    "digest_text",
    "encoding",
    "fields_of",
    "plain",
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


def _of_its_type(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    found: object = validate(value)
    if type(found) is not type(value):
        raise PydanticCustomError("literal_error", "is equal to it, and of another type")
    return found


#: Of a constant that is a number, true or false: pydantic takes whatever is equal to it, and ``true`` is no 1.
OF_ITS_TYPE: Final = WrapValidator(_of_its_type)

#: Errors of pydantic that have another name in a dataclass.
SAME_ERRORS: Final = {"unexpected_keyword_argument": "extra_forbidden", "dataclass_type": "model_type"}


class Plain:
    """The base of values that only this program makes: nothing is checked or converted where one is made.

    Their classes are decorated with ``plain``. Where one is read from a file it is as strict as ``Frozen``.
    """

    __slots__: ClassVar[tuple[str, ...]] = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


_Value = TypeVar("_Value", bound=Plain)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def plain(kind: type[_Value]) -> type[_Value]:
    """Makes a dataclass of a value that cannot be changed, with slots and named arguments only.

    That it cannot be changed is what type checkers see to: an episode makes hundreds, and to hold each field at run
    time as well would be more than half of what one costs.
    """
    return dataclass(slots=True, kw_only=True, unsafe_hash=True)(kind)


def fields_of(value: object) -> object:
    """What an encoder of JSON that does not know a value of ours writes instead. Raises TypeError for any other."""
    if isinstance(value, Plain):
        return {name: getattr(value, name) for name in value.__slots__}
    if isinstance(value, Frozen):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} is no value of ours")


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
    told: JsonValue = json.loads(json.dumps(value.model_dump(), default=fields_of))
    return told


class _MakeEncoder(Protocol):
    """The C encoder of the standard library: it has no type of its own, and not every Python has one."""

    def __call__(  # noqa: PLR0917  (they have no names)
        self,
        markers: None,
        default: Callable[[object], object],
        text: Callable[[str], str],
        indent: None,
        key_separator: str,
        item_separator: str,
        sort_keys: bool,
        skipkeys: bool,
        allow_nan: bool,
        /,
    ) -> Callable[[object, int], tuple[str, ...]]: ...


_make_encoder: _MakeEncoder | None = getattr(json.encoder, "c_make_encoder", None)


def encoding(
    *,
    separators: tuple[str, str] = (",", ":"),
    ensure_ascii: bool = True,
    allow_nan: bool = False,
    sort_keys: bool = True,
    default: Callable[[object], object] | None = None,
) -> Callable[[object], str]:
    """Gives the text of any value, as ``json.dumps`` with the same arguments does.

    The encoder is made once, and not each time as there. Values of JSON hold no rings, and none is looked for. Safe to
    use from several threads.
    """
    how = json.JSONEncoder(
        sort_keys=sort_keys,
        separators=separators,
        ensure_ascii=ensure_ascii,
        allow_nan=allow_nan,
        check_circular=False,
        default=default,
    )
    if _make_encoder is None:
        return how.encode
    text = encode_basestring_ascii if ensure_ascii else encode_basestring
    item, key = separators
    pieces = _make_encoder(None, how.default, text, None, key, item, how.sort_keys, how.skipkeys, allow_nan)

    def encode(value: object) -> str:
        return "".join(pieces(value, 0))

    return encode


_CANONICAL = encoding(ensure_ascii=False)
#: Copied for each digest: OpenSSL looks its algorithm up by name where one is made.
_SHA256 = sha256()


def canonical_json(value: JsonValue) -> str:
    """One text for one value: sorted keys, no spaces, no escapes beyond JSON's own."""
    return _CANONICAL(value)


def digest_bytes(data: bytes) -> Digest:
    """SHA-256 of bytes as ``sha256:<hex>``."""
    digest = _SHA256.copy()
    digest.update(data)
    return "sha256:" + digest.hexdigest()


def digest_text(text: str) -> Digest:
    """SHA-256 of a text's UTF-8 form; a lone surrogate, which JSON can carry, is encoded as it is."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def digest_json(value: JsonValue) -> Digest:
    """SHA-256 of a value's canonical JSON."""
    return digest_text(canonical_json(value))
