"""Options of ``harness run`` about what it leaves: which reports, which recordings, and what stale ones mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, ParamSpec, Self, TypeVar

import click

from harness.cli.grouped import in_order, keep, kept

__all__ = ["Leaving", "leaving_options"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Leaving:
    """What the command line says: names of reports (none: all), which recordings to keep, whether stale ones may be."""

    reports: tuple[str, ...]
    keep: Literal["failed", "all", "none"]
    tolerates_stale: bool

    @classmethod
    def of(cls, context: click.Context) -> Self:
        """That of a command whose options were read."""
        reports, recordings = kept(context, "reports"), kept(context, "keep")
        return cls(
            reports=tuple(map(str, reports)) if isinstance(reports, tuple) else (),
            keep="all" if recordings == "all" else "none" if recordings == "none" else "failed",
            tolerates_stale=kept(context, "stale") == "warn",
        )


def leaving_options(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """The options; the verb finds what they say with ``Leaving.of``."""
    return in_order(verb, _OPTIONS)


_OPTIONS: Final = (
    click.option(
        "--report",
        "reports",
        multiple=True,
        metavar="NAME",
        expose_value=False,
        callback=keep,
        help="Reports to write.  [default: all]",
    ),
    click.option(
        "--keep",
        type=click.Choice(["failed", "all", "none"]),
        default="failed",
        show_default=True,
        expose_value=False,
        callback=keep,
        help="Recordings of live episodes to keep in the run folder, redacted.",
    ),
    click.option(
        "--stale",
        type=click.Choice(["fail", "warn"]),
        default="fail",
        show_default=True,
        expose_value=False,
        callback=keep,
        help="What a recording that no longer fits means for the exit code.",
    ),
)
