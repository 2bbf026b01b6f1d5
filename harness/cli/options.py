"""Options that several verbs share, and their defaults."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Final, Literal, ParamSpec, TypeVar

import click

from harness.cli.grouped import keep, kept

__all__ = [
    "DEFAULT_EXECUTOR",
    "NONE",
    "NumberRange",
    "executor_option",
    "format_option",
    "sandbox_option",
    "sandbox_said",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: What is said on the command line where an option that the file sets is to say nothing.
NONE: Final = "none"
#: Warm needs what only Linux gives: everything else runs each call in a fresh process.
DEFAULT_EXECUTOR: Final[Literal["warm", "cold"]] = "warm" if sys.platform == "linux" else "cold"


class NumberRange(click.FloatRange):
    """A number between two others; what is no number is in no range, though it is below none and above none."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Raises click.BadParameter."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


def format_option(
    what: str, *forms: Literal["text", "json", "jsonl", "csv"]
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """``--format``, passed to the verb as ``form``: one of ``forms`` (default: all but csv), told as ``what``."""
    choice = click.Choice(forms or ("text", "json", "jsonl"))
    return click.option("--format", "form", type=choice, default="text", show_default=True, help=what)


def executor_option(what: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """``--executor``: warm or cold, told as ``what`` in help."""
    choice = click.Choice(("warm", "cold"))
    return click.option("--executor", type=choice, default=DEFAULT_EXECUTOR, show_default=True, help=what)


def sandbox_option(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """``--sandbox``: auto or off; the verb finds what it says with ``sandbox_said``."""
    return click.option(
        "--sandbox",
        type=click.Choice(("auto", "off")),
        default="auto",
        show_default=True,
        expose_value=False,
        callback=keep,
        help="Confine what is run to its workspace as far as the machine can, or not at all.",
    )(verb)


def sandbox_said(context: click.Context) -> Literal["auto", "off"]:
    """What it says."""
    return "off" if kept(context, "sandbox") == "off" else "auto"
