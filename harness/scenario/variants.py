"""``[variant.NAME]``: the same scenario with some of its parts replaced, as a scenario of its own.

What is replaced is a part at the level at which a person edits it: a key of a table, a key of a kind, a pointer of an
answer, a script. Elements of lists that have names are named in a variant: kinds by ``name``, checks and calls of
``[[after]]`` by their ``kind``, classifiers by their ``by``, files by one of their places. ``drop`` lists what is left
out of the file before that, by the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from harness.scenario.problem import KeyPath, Problem, dotted, nearest
from harness.scenario.scripts import script_problems
from harness.schema.base import JsonValue
from harness.schema.pair import BASE
from harness.schema.scenario import Scenario

__all__ = ["Varied", "pair_problems", "variant_names", "varied"]

#: Lists whose elements are named in a variant, by the key that holds the name.
_NAMED: Final = {
    ("kind",): "name",
    ("check",): "kind",
    ("after",): "kind",
    ("classify",): "by",
    ("workspace", "file"): "at",
}
#: Tables whose keys are tables that are not replaced as a whole.
_DEEP: Final = frozenset({("workspace",), ("tool",), ("call",), ("script",)})
#: Names with dots between them, quoted or not.
_PARTS: Final = re.compile(r'"([^"]+)"|([^."]+)')
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
#: What a variant has in common with its file.
_SHARED: Final = ("schema", "id", "plane", "variant", "pair")
#: The keys of a file.
_KEYS: Final = frozenset(field.alias or name for name, field in Scenario.model_fields.items())

Table = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Varied:
    """A file as one of its variants says it; ``came_from`` are places of it and where they stand in the file."""

    data: JsonValue
    came_from: Mapping[KeyPath, KeyPath]

    def in_file(self, path: KeyPath) -> KeyPath:
        """Where what is at a place of the variant stands in the file."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.came_from:
                return (*self.came_from[path[:length]], *path[length:])
        return path


def variant_names(data: JsonValue) -> tuple[str, ...]:
    """The variants that a file declares, in order; none where they are no tables."""
    variants = data.get("variant") if isinstance(data, dict) else None
    return tuple(variants) if isinstance(variants, dict) else ()


def varied(data: JsonValue, name: str | None) -> tuple[Varied, list[Problem]]:
    """The file without its variants, or as its variant ``name`` says it; and what is wrong with that variant."""
    if not isinstance(data, dict):
        return Varied(data, {}), []
    base = {key: value for key, value in data.items() if key != "variant"}
    variants = data.get("variant", {})
    if not isinstance(variants, dict) or not all(isinstance(one, dict) for one in variants.values()):
        return Varied(base, {}), [Problem(("variant",), "variants are tables with names", "[variant.NAME]")]
    if name is None:
        return Varied(base, {}), [*_bad_names(variants)]
    if name not in variants:
        text = f"no variant {name!r}{nearest(name, variants)}"
        return Varied(base, {}), [Problem(("variant",), text, ", ".join(variants) or "no variant at all")]
    change = variants[name]
    made = _Merge(("variant", name))
    change = {**_table(change)}
    rest = made.without({key: value for key, value in base.items() if key != "pair"}, change.pop("drop", []))
    whole = made.table(rest, change, ())
    if isinstance(base.get("id"), str):
        whole["id"] = f"{base['id']}-{name}"
    shared = [key for key in _SHARED if key in change]
    known = sorted({"drop", *_KEYS} - {*_SHARED})
    for key in change:
        if key not in {*known, *_SHARED}:
            text = f"unknown key {key!r}{nearest(key, known)}"
            made.problems.append(Problem(("variant", name, key), text, ", ".join(known)))
    made.problems += [Problem(("variant", name, key), "a variant has this in common with its file") for key in shared]
    return Varied(whole, made.came_from), made.problems


def pair_problems(scenario: Scenario, names: tuple[str, ...]) -> Iterator[Problem]:
    """Pairs of variants that there are not, or of one with itself; ``names`` are those of the file."""
    for index, pair in enumerate(scenario.pair):
        path: KeyPath = ("pair", index)
        for at, name in enumerate(pair.variants):
            if name not in (BASE, *names):
                text = f"no variant {name!r}{nearest(name, (BASE, *names))}"
                yield Problem((*path, "variants", at), text, ", ".join((BASE, *names)))
        if pair.variants[0] == pair.variants[1]:
            yield Problem((*path, "variants"), "a pair of a variant with itself", "two variants")
        if not pair.play:
            yield Problem((*path, "play"), "nothing is played", "at least one answer")
        yield from script_problems(pair.play, (*path, "play"))


def _bad_names(variants: Table) -> Iterator[Problem]:
    for name in variants:
        if name == BASE or not _NAME.fullmatch(name):
            text = f"{name!r} cannot be the name of a variant"
            yield Problem(("variant", name), text, f"lower-case letters, digits and -, and not {BASE}")


def _table(value: JsonValue) -> Table:
    return value if isinstance(value, dict) else {}


def _misnamed(base: list[JsonValue], place: KeyPath, path: tuple[str, ...], label: str, *, there: bool) -> Problem:
    """An element that there is not, or one that is ``there`` and is not changed by a table."""
    if there:
        return Problem(place, "no table of changes", "a table")
    names = [_table(one).get(label) for one in base]
    known = [str(name) for one in names for name in (one if isinstance(one, list) else [one]) if isinstance(name, str)]
    text = f"nothing in {'.'.join(path)} is called so{nearest(str(place[-1]), known)}"
    return Problem(place, text, ", ".join(dict.fromkeys(known)) or f"nothing, for there is no {'.'.join(path)}")


class _Merge:
    """Puts the parts of a variant in place of those of its file."""

    def __init__(self, top: KeyPath) -> None:
        self._top = top
        self.came_from: dict[KeyPath, KeyPath] = {}
        self.problems: list[Problem] = []

    def without(self, file: Table, drop: JsonValue) -> Table:
        """The file without what is left out; a name with dots stands in quotes: ``workspace.file."project/a.json"``."""
        base = file
        for number, text in enumerate(drop if isinstance(drop, list) else [None]):
            place = (*self._top, "drop", number)
            if not isinstance(text, str) or len(_names(text)) < 2:  # noqa: PLR2004  (a table and what is in it)
                self.problems.append(Problem(place, "no names of a part", 'a list of names, like "kind.NAME"'))
                continue
            if self._names_several(base, _names(text), place):
                continue
            left = _left(base, _names(text), ())
            if left is None:
                self.problems.append(Problem(place, f"{text!r} is not in the file", "what the file says"))
            else:
                base = _table(left)
        for path, label in _NAMED.items():
            before, after = _list_at(file, path), _list_at(base, path)
            found = ((index, _origin(one, before, label)) for index, one in enumerate(after))
            if len(after) < len(before):
                self.came_from.update({(*path, index): (*path, at) for index, at in found if at is not None})
        return base

    def _names_several(self, base: Table, names: list[str], place: KeyPath) -> bool:
        """Whether what is to be left out is, or is in, one of several elements that are called alike."""
        for path, label in _NAMED.items():
            name = names[len(path) : len(path) + 1]
            if name and tuple(names[: len(path)]) == path:
                return self._is_unclear(_list_at(base, path), path, label, name[0], place)
        return False

    def _is_unclear(self, many: list[JsonValue], path: KeyPath, label: str, name: str, place: KeyPath) -> bool:
        """Whether several elements are called alike, so that nobody knows which one is meant; told at ``place``."""
        count = sum(_is_called(one, label, name) for one in many)
        if count > 1:
            where = dotted(path)
            text = f"{count} of {where} are called {name!r}: it is not clear which one is meant"
            self.problems.append(Problem(place, text, f"all of {where}, as a list of the variant"))
        return count > 1

    def table(self, base: Table, change: Table, path: tuple[str, ...]) -> Table:
        """The table at ``path`` with what is changed of it."""
        merged = dict(base)
        for key, value in change.items():
            place = (*path, key)
            here, label = base.get(key), _NAMED.get(place)
            if label is not None and isinstance(value, dict):
                merged[key] = self._elements(here if isinstance(here, list) else [], value, place, label)
            elif isinstance(here, dict) and isinstance(value, dict) and (not path or path in _DEEP):
                merged[key] = self.table(here, value, place)
            else:
                merged[key] = value
                self._replaced(place)
        return merged

    def _replaced(self, place: tuple[str, ...]) -> None:
        """All of it stands in the variant, wherever what was there came from."""
        self.came_from = {path: at for path, at in self.came_from.items() if path[: len(place)] != place}
        self.came_from[place] = (*self._top, *place)

    def _elements(self, base: list[JsonValue], change: Table, path: tuple[str, ...], label: str) -> JsonValue:
        merged = list(base)
        for name, value in change.items():
            index = next((at for at, one in enumerate(base) if _is_called(one, label, name)), None)
            place = (*self._top, *path, name)
            if self._is_unclear(base, path, label, name, place):
                continue
            if index is None or not isinstance(value, dict):
                self.problems.append(_misnamed(base, place, path, label, there=index is not None))
                continue
            before = _table(base[index])
            answer = _table(value.get("answer"))
            whole = {**value, "answer": {**_table(before.get("answer")), **answer}} if answer else value
            merged[index] = {**before, **whole}
            self.came_from.update({(*path, index, key): (*place, key) for key in value if key != "answer"})
            self.came_from.update({(*path, index, "answer", key): (*place, "answer", key) for key in answer})
        return merged


def _names(text: str) -> list[str]:
    return [quoted or plain for quoted, plain in _PARTS.findall(text)]


def _left(value: JsonValue, names: list[str], path: tuple[str, ...]) -> JsonValue:
    """A value without what the names lead to; None where they lead to nothing."""
    name, label = names[0], _NAMED.get(path)
    if isinstance(value, list) and label is not None:
        index = next((at for at, one in enumerate(value) if _is_called(one, label, name)), None)
        if index is None:
            return None
        kept = [] if len(names) == 1 else [_left(value[index], names[1:], (*path, name))]
        return None if kept == [None] else [*value[:index], *kept, *value[index + 1 :]]
    if not isinstance(value, dict) or name not in value:
        return None
    if len(names) == 1:
        return {key: item for key, item in value.items() if key != name}
    inner = _left(value[name], names[1:], (*path, name))
    return None if inner is None else {**value, name: inner}


def _list_at(table: Table, path: KeyPath) -> list[JsonValue]:
    """The list that the names lead to; an empty one where they lead to none."""
    found: JsonValue = table
    for name in path:
        found = _table(found).get(str(name))
    return found if isinstance(found, list) else []


def _origin(element: JsonValue, before: list[JsonValue], label: str) -> int | None:
    """Where an element stood before others were left out: the same one, or the one of its name."""
    same = next((at for at, one in enumerate(before) if one is element), None)
    if same is not None:
        return same
    name = _table(element).get(label)
    return next((at for at, one in enumerate(before) if name is not None and _table(one).get(label) == name), None)


def _is_called(element: JsonValue, label: str, name: str) -> bool:
    called = _table(element).get(label)
    return called == name or (isinstance(called, list) and name in called)
