"""``--max-cost`` and ``--max-time``: what all episodes of a run may cost and take together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

import click

from harness.clock import SystemClock
from harness.errors import MissingKeyError, UsageError
from harness.meter import Bound, Ceiling
from harness.receipt import SpendingFile
from harness.schema.actor import ActorSpec
from harness.schema.counting import counted
from harness.wiring import Settings

__all__ = ["Ceilings", "agreed", "amount", "duration", "opened", "told"]

_MICRO: Final = Decimal(1_000_000)
_MOST_USD: Final = Decimal(1_000_000)
_DURATION: Final = re.compile(r"(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s?)?")
_SECONDS: Final = (3600, 60, 1)


@dataclass(frozen=True, slots=True)
class Ceilings:
    """``cost_usd`` in US dollars, ``time_s`` in seconds from the start of this command; None is no bound."""

    cost_usd: Decimal | None = None
    time_s: float | None = None


def amount(_: click.Context, __: click.Parameter, value: str | None) -> Decimal | None:
    """US dollars as they are written after an option. Raises BadParameter."""
    if value is None:
        return None
    try:
        dollars = Decimal(value)
    except InvalidOperation:
        dollars = Decimal(0)
    if not dollars.is_finite() or not 0 < dollars <= _MOST_USD:
        raise click.BadParameter("must be an amount of US dollars above 0, like 2.50")
    return dollars


def duration(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """Seconds of a time as it is written after an option. Raises BadParameter."""
    if value is None:
        return None
    found = _DURATION.fullmatch(value)
    seconds = sum(int(part or 0) * one for part, one in zip(found.groups(), _SECONDS, strict=True)) if found else 0
    if not seconds:
        raise click.BadParameter("must be a time like 90s, 45m, 2h or 1h30m")
    return float(seconds)


def agreed(settings: Settings, actors: Iterable[ActorSpec], ceilings: Ceilings, *, yes_spend: bool) -> None:
    """Refuse what would cost money unasked, or more than was allowed, or fail for want of a key.

    Raises UsageError and MissingKeyError, before anything is made.
    """
    for actor in actors:
        identity, variable = actor.identity, actor.key_env or ""
        if identity.kind != "live":
            continue
        if ceilings.cost_usd is not None:
            _boundable(actor)
        elif not yes_spend:
            raise UsageError(
                f"actor {identity.ref!r} is a live model and costs money; bound it with --max-cost USD, "
                "or agree with --yes-spend"
            )
        if not settings.environ.get(variable, "").strip() and actor.key_required:
            raise MissingKeyError(identity.ref, variable)


def _boundable(actor: ActorSpec) -> None:
    """Raise UsageError where nobody can say what one call costs at most."""
    ref, limits = actor.identity.ref, actor.identity.settings
    if actor.price is None:
        raise UsageError(
            f"--max-cost: the price of {ref!r} is not known; put [actors.NAME.price] into harness.toml, "
            "or agree with --yes-spend to no bound"
        )
    if limits is None or limits.max_output_tokens is None:
        raise UsageError(f"--max-cost: {ref!r} may answer at any length; bound it with --set max_output_tokens=N")


@contextmanager
def opened(folder: Path, ceilings: Ceilings) -> Iterator[Ceiling]:
    """The ceiling of the run in ``folder``, what it spent before counted. Raises UsageError and StoreError."""
    clock, file = SystemClock(), SpendingFile(folder)
    cost = None if ceilings.cost_usd is None else ceilings.cost_usd * _MICRO
    ends = None if ceilings.time_s is None else clock.monotonic() + ceilings.time_s
    ceiling = Ceiling(Bound(cost, ends), clock.monotonic, keep=file.keep, before=file.before)
    if cost is not None and ceiling.unbounded:
        raise UsageError(
            f"--max-cost: of {counted(ceiling.unbounded, 'model call')} that this run made before nobody knows the "
            "cost; agree with --yes-spend to no bound"
        )
    try:
        yield ceiling
    finally:
        file.close()


def told(ceiling: Ceiling, ceilings: Ceilings) -> str | None:
    """Which ceiling was reached, None where none was."""
    if ceiling.reached == "cost":
        spent = (ceiling.committed / _MICRO).normalize()
        return f"--max-cost is reached: of ${ceilings.cost_usd} at most ${spent:f} is spent"
    return "--max-time is over" if ceiling.reached == "time" else None
