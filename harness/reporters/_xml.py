"""XML line by line: no tree of it is held, and what is made of a run's texts is well-formed whatever they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from xml.sax.saxutils import escape

from harness.reporters._rows import plain

__all__ = ["element"]

_QUOTE: Final = {'"': "&quot;"}


def element(
    depth: int, tag: str, attributes: Mapping[str, str], inside: Iterable[str] = (), *, text: str | None = None
) -> Iterator[str]:
    """The lines of an element, two blanks a level: around the lines of those ``inside`` it, or around its ``text``.

    Attributes hold no line ends; those of a text stay. Names of tags and attributes are taken as they are.
    """
    margin = "  " * depth
    given = "".join([f' {name}="{escape(plain(value), _QUOTE)}"' for name, value in attributes.items()])
    start = f"{margin}<{tag}{given}"
    if text is not None:
        shown = "\n".join(map(plain, text.split("\n")))
        yield f"{start}>{escape(shown)}</{tag}>"
        return
    empty = True
    for line in inside:
        if empty:
            yield f"{start}>"
            empty = False
        yield line
    yield f"{start} />" if empty else f"{margin}</{tag}>"
