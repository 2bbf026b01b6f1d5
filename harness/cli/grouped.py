"""Options in groups: a verb with many of them is given each group as one value, not every option as an argument."""

from __future__ import annotations

import click

__all__ = ["keep", "kept"]

_PLACE = __name__


def keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """The callback of an option with ``expose_value=False``."""
    context.meta.setdefault(_PLACE, {})[parameter.name] = value


def kept(context: click.Context, name: str) -> object:
    """What such an option says."""
    value: object = context.meta[_PLACE][name]
    return value
