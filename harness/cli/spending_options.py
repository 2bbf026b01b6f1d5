"""Options of verbs that ask live models: what those may cost and take, and a look at the plan before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, ParamSpec, Self, TypeVar

import click

from harness.cli.ceilings import Ceilings, amount, duration
from harness.cli.grouped import in_order, keep, kept

__all__ = ["Spending", "spending_options"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Spending:
    """What the command line says: the ceilings, whether it agrees to spend without one, whether anything is played."""

    ceilings: Ceilings
    yes_spend: bool
    dry_run: bool

    @classmethod
    def of(cls, context: click.Context) -> Self:
        """That of a command whose options were read. What is not played needs no consent; a bound is looked at."""
        cost, time_s = kept(context, "max_cost"), kept(context, "max_time")
        dry_run = bool(kept(context, "dry_run"))
        bound = cost if isinstance(cost, Decimal) else None
        ceilings = Ceilings(bound, time_s if isinstance(time_s, float) else None)
        return cls(ceilings, yes_spend=bool(kept(context, "yes_spend")) or dry_run, dry_run=dry_run)


def _amount(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    keep(context, parameter, amount(context, parameter, value))


def _duration(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    keep(context, parameter, duration(context, parameter, value))


def spending_options(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """The options; the verb finds what they say with ``Spending.of``."""
    return in_order(verb, _OPTIONS)


_OPTIONS: Final = (
    click.option(
        "--max-cost",
        metavar="USD",
        expose_value=False,
        callback=_amount,
        help="What live actors may cost together.",
    ),
    click.option(
        "--max-time",
        metavar="DURATION",
        expose_value=False,
        callback=_duration,
        help="How long anything may start: 90m, 2h, none.",
    ),
    click.option(
        "--yes-spend",
        is_flag=True,
        expose_value=False,
        callback=keep,
        help="Agree that live actors cost money, without a bound on the cost.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        expose_value=False,
        callback=keep,
        help="Print the plan and do nothing.",
    ),
)
