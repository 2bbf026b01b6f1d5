"""What another version of harness wrote, told from what was changed: its chain holds, but its words are not ours."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError

from harness.errors import OpeningRefusedError
from harness.schema.base import SAME_ERRORS, Frozen, Plain, digest_text
from harness.schema.record import Record

__all__ = ["as_kept", "foreign_record"]

_Kept = TypeVar("_Kept", bound=Frozen | Plain)
_THIS: Final = "this version of harness"
#: Names that are shown; whatever else stands in their place is the file's own text.
_NAME: Final = re.compile(r"[a-z][a-z0-9_.]{0,59}")
#: The parts of a place that say that it is a record of some kind.
_HEAD: Final = 2


def foreign_record(line: bytes, seq: int, previous: str) -> str | None:
    """What this version does not know of the record in a line that is whole; None where the line was changed.

    It must be the record with this number, behind the one with the digest ``previous``.
    """
    raw = _payload(line, seq, previous)
    if raw is None:
        return None
    kind = raw.get("kind")
    named = kind if isinstance(kind, str) and _NAME.fullmatch(kind) else "another"
    try:
        record = Record.model_validate_json(line)
    except ValidationError as error:
        if any(one["type"].startswith("union_tag") for one in error.errors()):
            return f"is of the kind {named!r}, which {_THIS} does not know"
        return f"({named}) {_unknown(error, _HEAD)}"
    place = _lacking(raw, record.model_dump(mode="json")["payload"])
    if place is None:
        return f"({named}) is spelled in another way than {_THIS} spells it"
    return f"({named}) lacks {_named(place)}, which {_THIS} writes"


def as_kept(kind: type[_Kept], data: bytes | str, what: str) -> _Kept:
    """What a text of an episode says; its digest was looked at before.

    Raises OpeningRefusedError (``journal_version_unsupported``) where another version wrote it; ``what`` calls it.
    """
    adapter = TypeAdapter(kind)
    try:
        try:
            return adapter.validate_json(data)
        except ValidationError as error:
            if error.errors()[0]["type"] != "json_invalid":
                raise
        # half of a character, which a reply may hold, has no UTF-8 form
        return adapter.validate_python(json.loads(data), strict=False)
    except ValidationError as error:
        problem = f"{what} that is kept {_unknown(error, 0)}"
        raise OpeningRefusedError("journal_version_unsupported", problem) from None


def _unknown(error: ValidationError, head: int) -> str:
    """The first thing that a refused value has, lacks or says; ``head`` is how many parts of its place are left out."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = _named(first["loc"][head:])
    if first["type"] == "missing":
        return f"lacks {place}, which {_THIS} needs"
    if SAME_ERRORS.get(first["type"], first["type"]) == "extra_forbidden":
        return f"has {place}, which {_THIS} does not know"
    return f"says something of {place} that {_THIS} does not know"


def _payload(line: bytes, seq: int, previous: str) -> dict[str, JsonValue] | None:
    """What the record says, where the bytes of that are those that its digest is over."""
    try:
        text = line.decode("utf-8")
        said: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not isinstance(said.get("digest"), str):
        return None
    head, tail = f'{{"seq":{seq},"payload":', f',"previous":"{previous}","digest":"{said["digest"]}"}}'
    payload = said.get("payload")
    if not text.startswith(head) or not text.endswith(tail) or not isinstance(payload, dict):
        return None
    raw = text[len(head) : -len(tail)]
    return payload if digest_text(f"{previous}\n{raw}") == said["digest"] else None


def _lacking(raw: JsonValue, known: JsonValue) -> tuple[str, ...] | None:
    """The place of the first name that is not in ``raw``."""
    if isinstance(raw, dict) and isinstance(known, dict):
        for name, value in known.items():
            below = () if name not in raw else _lacking(raw[name], value)
            if below is not None:
                return (name, *below)
    return None


def _named(place: Sequence[str | int]) -> str:
    name = ".".join(map(str, place))
    return repr(name) if _NAME.fullmatch(name) else "something"
