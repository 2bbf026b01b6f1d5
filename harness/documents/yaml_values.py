"""YAML that somebody else wrote, as plain values within bounds: nesting, size once aliases are followed, keys, tags.

A value is made from the parser's events, without recursion and without a constructor of objects: no tag can name code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import yaml

from harness.documents.files import DocumentError

__all__ = ["DEPTH_MAX", "EXPANDED_MAX", "YamlValue", "parse_yaml"]

YamlValue: TypeAlias = "bool | int | float | str | bytes | list[YamlValue] | dict[str, YamlValue] | None"

#: Deepest nesting that is read, that of what aliases stand for included.
DEPTH_MAX: Final = 128
#: Most characters and values once every alias is followed: nothing of a few lines becomes gigabytes.
EXPANDED_MAX: Final = 128 * 1024 * 1024

#: The parser in C reads the same and is many times as fast.
_Loader: Final[type[yaml.SafeLoader | yaml.CSafeLoader]] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG: Final = "tag:yaml.org,2002:"
#: A time is no JSON: it stays the text that it was written as. ``=`` is a text too.
_TEXTS: Final = frozenset(f"{_TAG}{name}" for name in ("str", "python/str", "python/unicode", "timestamp", "value"))
_LISTS: Final = frozenset({f"{_TAG}seq", f"{_TAG}python/tuple"})
_OBJECTS: Final = frozenset({f"{_TAG}map"})
#: How Python's buffers and iterators are written -> the key under which that stands which they hold.
_HOLDERS: Final = {
    f"{_TAG}python/object/new:_io.BytesIO": "state",
    f"{_TAG}python/object/apply:builtins.iter": "args",
}
_MERGE: Final = f"{_TAG}merge"


def parse_yaml(text: str) -> YamlValue:
    """The value of a text with one YAML document; None for an empty one. Keys that are no texts become texts.

    Raises DocumentError, with the line, for what is no YAML, and for what is not read: several documents, a key that
    is given twice, merge keys, tags other than those of plain values, nesting beyond ``DEPTH_MAX``, and aliases that
    stand for more than ``EXPANDED_MAX`` characters and values together.
    """
    try:
        loader = _Loader(text)
        try:
            return _Reader(loader).document()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise DocumentError(f"is no YAML: {error.problem or error.context}", line=line) from None
    except yaml.YAMLError:
        raise DocumentError("is no YAML: a character that may not stand in it") from None


@dataclass(slots=True)
class _Made:
    """A value with what it weighs, in characters and values, and how deep it nests."""

    value: YamlValue
    weight: int = 1
    depth: int = 0


@dataclass(slots=True)
class _Open:
    """A list or an object that is being read; ``key`` is that of the value which comes next, None where a key does."""

    anchor: str | None
    holds: str | None
    items: list[YamlValue] | None
    fields: dict[str, YamlValue] = field(default_factory=dict)
    key: str | None = None
    weight: int = 1
    depth: int = 1


class _Reader:
    """Makes the value of one document from its events."""

    def __init__(self, loader: yaml.SafeLoader | yaml.CSafeLoader) -> None:
        self._loader = loader
        self._resolve: Callable[[type[yaml.Node], str, tuple[bool, bool]], str] = loader.resolve
        self._anchored: dict[str, _Made] = {}
        self._open: list[_Open] = []
        self._whole: _Made | None = None

    def document(self) -> YamlValue:
        """The one document."""
        documents = 0
        while (event := self._loader.get_event()) is not None:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _refused("holds several documents", event, "one")
            self._take(event)
        return None if self._whole is None else self._whole.value

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            known = self._anchored.get(event.anchor or "")
            if known is None:
                raise _refused("an alias of what does not stand before it", event)
            self._put(known, event)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self._end(event)

    def _begin(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent) -> None:
        if len(self._open) >= DEPTH_MAX:
            raise _too_deep(event)
        if self._awaits_key:
            raise _refused("a key that is no text", event)
        tag, is_list = event.tag, isinstance(event, yaml.SequenceStartEvent)
        known = _LISTS if is_list else _OBJECTS
        if tag not in {None, "!", *known} and (is_list or tag not in _HOLDERS):
            raise _odd_tag(tag, event)
        self._open.append(_Open(event.anchor, _HOLDERS.get(tag or ""), [] if is_list else None))

    def _end(self, event: yaml.Event) -> None:
        done = self._open.pop()
        value: YamlValue = done.fields if done.items is None else done.items
        if done.holds is not None:
            held = done.fields.get(done.holds)
            value = held[0] if isinstance(held, list) and held else ""
        self._anchor_and_put(done.anchor, _Made(value, done.weight, done.depth), event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if self._awaits_key:
            self._key(event)
            return
        tag = event.tag
        if tag in {None, "!"}:
            tag = self._resolve(yaml.ScalarNode, event.value, event.implicit)
        value: YamlValue = event.value if tag in _TEXTS else self._plain(str(tag), event)
        self._anchor_and_put(event.anchor, _Made(value, 1 + len(event.value)), event)

    def _plain(self, tag: str, event: yaml.ScalarEvent) -> YamlValue:
        node = yaml.ScalarNode(tag, event.value)
        makers: dict[str, Callable[[yaml.ScalarNode], YamlValue]] = {
            "null": lambda _: None,
            "bool": self._loader.construct_yaml_bool,
            "int": self._loader.construct_yaml_int,
            "float": self._loader.construct_yaml_float,
            "binary": self._loader.construct_yaml_binary,
        }
        make = makers.get(tag.removeprefix(_TAG)) if tag.startswith(_TAG) else None
        if make is None:
            raise _odd_tag(tag, event)
        try:
            return make(node)
        except (ValueError, KeyError, OverflowError, yaml.constructor.ConstructorError):
            raise _refused(f"a value that is no {tag.removeprefix(_TAG)}", event) from None

    def _key(self, event: yaml.ScalarEvent) -> None:
        place = self._open[-1]
        if event.tag in {None, "!"}:
            if self._resolve(yaml.ScalarNode, event.value, event.implicit) == _MERGE:
                raise _refused("a merge key, which is not read", event)
        elif event.tag not in _TEXTS:
            raise _odd_tag(event.tag, event)
        if event.value in place.fields:
            raise _refused(f"the key {event.value[:80]!r} is given twice", event)
        place.key, place.weight = event.value, place.weight + len(event.value)
        if event.anchor is not None:
            self._anchored[event.anchor] = _Made(event.value, 1 + len(event.value))

    @property
    def _awaits_key(self) -> bool:
        return bool(self._open) and self._open[-1].items is None and self._open[-1].key is None

    def _anchor_and_put(self, anchor: str | None, made: _Made, event: yaml.Event) -> None:
        if anchor is not None:
            self._anchored[anchor] = made
        self._put(made, event)

    def _put(self, made: _Made, event: yaml.Event) -> None:
        if not self._open:
            self._whole = made
            return
        place = self._open[-1]
        if self._awaits_key:
            raise _refused("an alias as a key", event)
        place.weight += made.weight
        place.depth = max(place.depth, made.depth + 1)
        if place.weight > EXPANDED_MAX:
            raise _refused("is too large once its aliases are followed", event, f"{EXPANDED_MAX} characters")
        if len(self._open) + made.depth > DEPTH_MAX:
            raise _too_deep(event)
        if place.items is not None:
            place.items.append(made.value)
        else:
            place.fields[place.key or ""] = made.value
            place.key = None


def _refused(problem: str, event: yaml.Event, allowed: str = "") -> DocumentError:
    mark = event.start_mark
    return DocumentError(problem, line=None if mark is None else mark.line + 1, allowed=allowed)


def _too_deep(event: yaml.Event) -> DocumentError:
    return _refused("is nested too deeply", event, f"at most {DEPTH_MAX} levels")


def _odd_tag(tag: str | None, event: yaml.Event) -> DocumentError:
    return _refused(f"the tag {(tag or '')[:80]!r}, which is not read", event, "plain values")
