"""Options in groups: a verb with many of them is given each group as one value, not every option as an argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import click

__all__ = ["in_order", "keep", "keep_as", "kept"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_PLACE = __name__


def in_order(
    verb: Callable[_P, _R], options: Sequence[Callable[[Callable[_P, _R]], Callable[_P, _R]]]
) -> Callable[_P, _R]:
    """The verb with these options, which its help lists as they are given."""
    for option in reversed(options):
        verb = option(verb)
    return verb


def keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    """The callback of an option with ``expose_value=False``."""
    keep_as(context, str(parameter.name), value)


def keep_as(context: click.Context, name: str, value: object) -> None:
    """Let such an option say this, whatever it said before."""
    context.meta.setdefault(_PLACE, {})[name] = value


def kept(context: click.Context, name: str) -> object:
    """What such an option says."""
    value: object = context.meta[_PLACE][name]
    return value
