"""What an episode can depend on in a scenario, part by part: its digest, and which part of it changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.schema.base import Digest, JsonValue, canonical_json, digest_json, digest_text
from harness.schema.scenario import Scenario

__all__ = ["UNPLAYED", "digest_and_parts"]

#: What no episode depends on: a title, a choice, pairs, waivers; and scripts, which are part of an actor's identity.
UNPLAYED: Final = frozenset({"asks", "tags", "script", "pair", "waiver"})

#: Lists whose entries have parts of their own, by what names an entry; without a name it is its place.
_LISTED: Final = {"kind": "name", "workspace.file": None}
#: Lists whose entries are parts.
_WHOLE: Final = frozenset({"workspace.prepare", "end.silence", "end.check", "check", "classify", "after"})
#: Tables of tables.
_DEEP: Final = frozenset({"workspace", "tool", "call", "call.allow"})

#: Hexadecimal digits of a part's digest.
_DIGITS: Final = 12


def digest_and_parts(scenario: Scenario) -> tuple[Digest, dict[str, str]]:
    """The digest over all that an episode can depend on, and short digests of its parts.

    A part is called by its dotted key at the level at which a person edits it: ``limits.model_turns``,
    ``kind[look].needs``, ``workspace.file[0].text``, ``check[0]``. ``kind[]`` is the order of the kinds, of which
    the first that matches counts. Both say what the file says beyond the defaults: layout and comments are no part.
    """
    said: dict[str, JsonValue] = scenario.model_dump(mode="json", exclude_defaults=True, exclude=set(UNPLAYED))
    parts = {name: digest_text(canonical_json(value)).removeprefix("sha256:") for name, value in _parts(said, "")}
    return digest_json(said), {name: digest[:_DIGITS] for name, digest in sorted(parts.items())}


def _parts(table: dict[str, JsonValue], above: str) -> Iterator[tuple[str, JsonValue]]:
    for key, value in table.items():
        name = f"{above}.{key}" if above else key
        deep = not above or above == "tool" or name in _DEEP
        if isinstance(value, list) and (name in _LISTED or name in _WHOLE):
            yield from _entries(name, value)
        elif isinstance(value, dict) and value and deep:
            yield from _parts(value, name)
        else:
            yield name, value


def _entries(name: str, entries: list[JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    label = _LISTED.get(name)
    names: list[JsonValue] = []
    for place, entry in enumerate(entries):
        called = entry.get(label) if label is not None and isinstance(entry, dict) else None
        key = f"{name}[{place if called is None else called}]"
        names.append(called)
        if isinstance(entry, dict) and name in _LISTED:
            yield from ((f"{key}.{part}", value) for part, value in entry.items() if part != label)
        else:
            yield key, entry
    if label is not None:
        yield f"{name}[]", names
