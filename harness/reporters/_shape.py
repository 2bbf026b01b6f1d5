"""A command's shape in words."""

from __future__ import annotations

from harness.schema.command import CommandShape

__all__ = ["shape"]


def shape(one: CommandShape | None) -> str:
    """A command's shape in words: ``call, 8 or more words, redirect``."""
    if one is None:
        return ""
    tokens = "8 or more" if one.tokens == 8 else str(one.tokens)  # noqa: PLR2004  (the schema's own ceiling)
    told = [one.family, f"{tokens} word{'' if one.tokens == 1 else 's'}"]
    if one.segments > 1:
        told.append(f"{one.segments} commands")
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
