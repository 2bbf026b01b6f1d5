"""A command's shape in words."""

from __future__ import annotations

from harness.schema.command import CommandShape
from harness.schema.counting import counted

__all__ = ["shape"]


def shape(one: CommandShape | None) -> str:
    """A command's shape in words: ``call, 8 or more words, redirect``."""
    if one is None:
        return ""
    tokens = counted(one.tokens, "word")
    if one.tokens == 8:  # noqa: PLR2004  (the schema's own ceiling)
        tokens = "8 or more words"
    told = [one.family, tokens]
    if one.segments > 1:
        told.append(counted(one.segments, "command"))
    flags = {
        "cannot be parsed": not one.parseable,
        "several lines": one.multiline,
        "pipe": one.pipe,
        "redirect": one.redirect,
        "conditional": one.conditional,
        "expansion": one.expansion,
        "names the content": one.names_content_target,
    }
    return ", ".join([*told, *(word for word, there in flags.items() if there)])
