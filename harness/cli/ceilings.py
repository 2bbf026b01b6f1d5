"""``--max-cost`` and ``--max-time``: what all episodes of a run may cost and take together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

import click

from harness import meter
from harness.cli.options import NONE
from harness.clock import SystemClock
from harness.errors import MissingKeyError, UsageError
from harness.meter import Bound, Ceiling
from harness.receipt import SpendingFile
from harness.schema.actor import ActorSpec
from harness.schema.counting import counted
from harness.schema.money import MICRO
from harness.schema.run import EpisodeJob
from harness.wiring import Settings

__all__ = ["Ceilings", "agreed", "amount", "duration", "higher", "in_memory", "opened", "refuse_too_small", "told"]

_MOST_USD: Final = Decimal(1_000_000)
_DURATION: Final = re.compile(r"(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s?)?")
_SECONDS: Final = (3600, 60, 1)
_COST_REACHED: Final = "--max-cost is reached"
_PLACE: Final = re.compile(r"\{[^{}]*\}")


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
    """Seconds of a time as it is written after an option; None for ``none``. Raises BadParameter."""
    if value is None or value == NONE:
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
    ceiling = Ceiling(_bound(ceilings, clock.monotonic()), clock.monotonic, keep=file.keep, before=file.before)
    if ceilings.cost_usd is not None:
        _refuse_unbounded(ceiling)
    try:
        yield ceiling
    finally:
        file.close()


def in_memory(ceilings: Ceilings) -> Ceiling:
    """The ceiling of a command that nobody goes on with."""
    monotonic = SystemClock().monotonic
    return Ceiling(_bound(ceilings, monotonic()), monotonic)


def _bound(ceilings: Ceilings, now: float) -> Bound:
    cost = None if ceilings.cost_usd is None else ceilings.cost_usd * MICRO
    return Bound(cost, None if ceilings.time_s is None else now + ceilings.time_s)


def told(ceiling: Ceiling, ceilings: Ceilings) -> str | None:
    """Which ceiling was reached, and what there was no room for; None where none was."""
    refused = ceiling.refused
    if ceiling.reached == "cost":
        spent = f"{_COST_REACHED}: of ${ceilings.cost_usd} at most {_usd(ceiling.committed)} is spent"
        if refused is None or refused.most is None:
            return spent
        return f"{spent}, and the next call may cost {_usd(refused.most)}; a higher bound goes on"
    if ceiling.reached == "time" and refused is not None:
        return f"--max-time is over: too little was left for a call, which may take {refused.seconds:.0f} s"
    return "--max-time is over" if ceiling.reached == "time" else None


def higher(reached: str | None, ceilings: Ceilings) -> Decimal | None:
    """Twice the bound on the cost where that is what was ``reached``, as it was told; else None."""
    is_cost = reached is not None and reached.startswith(_COST_REACHED)
    return 2 * ceilings.cost_usd if is_cost and ceilings.cost_usd is not None else None


def refuse_too_small(jobs: Sequence[EpisodeJob], ceilings: Ceilings, run: Path | None) -> None:
    """Raise UsageError where a bound has no room for one call of each live actor, so that little or nothing would play.

    ``run`` is the folder of a run that is gone on with: what it spent counts. Raises StoreError where that cannot be
    read. A call's deadline is not shortened to what is left: cut off it would be paid for, and its outcome unknown.
    """
    live = [job for job in jobs if job.actor.identity.kind == "live"]
    longest = max(live, key=_call_s, default=None)
    if ceilings.time_s is not None and longest is not None and ceilings.time_s <= _call_s(longest):
        raise UsageError(
            f"--max-time {ceilings.time_s:g}s: one call of {_named(longest)} may take {_call_s(longest):g} s "
            f"(model_call_s), and none is begun that could end later; give more than {_call_s(longest):g}s"
        )
    if ceilings.cost_usd is None or not live:
        return
    before = () if run is None else SpendingFile(run).before
    _refuse_unbounded(Ceiling(Bound(), SystemClock().monotonic, before=before))
    settled = {entry.attempt for entry in before if entry.event == "settled"}
    # what was reserved and not settled may be given back
    certain = [entry for entry in before if entry.attempt in settled]
    spent = Ceiling(Bound(), SystemClock().monotonic, before=certain).committed
    dearest = max(live, key=_least_bound)
    need, left = _least_bound(dearest), max(ceilings.cost_usd * MICRO - spent, Decimal(0))
    if left < need:
        why = f", for {_usd(spent)} is spent" if spent else ""
        raise UsageError(
            f"--max-cost {ceilings.cost_usd}: one call of {_named(dearest)} may cost {_usd(need)} or more, and "
            f"{_usd(left)} is left{why}; give at least {_usd(need + spent)[1:]}, or lower max_output_tokens"
        )


def _refuse_unbounded(ceiling: Ceiling) -> None:
    if ceiling.unbounded:
        raise UsageError(
            f"--max-cost: of {counted(ceiling.unbounded, 'model call')} that this run made before nobody knows "
            "the cost; agree with --yes-spend to no bound"
        )


def _named(job: EpisodeJob) -> str:
    return f"{job.actor.identity.ref!r} in {job.loaded.scenario.id}"


def _call_s(job: EpisodeJob) -> float:
    limits = job.loaded.scenario.limits
    return min(limits.model_call_s, limits.deadline_s)


def _least_bound(job: EpisodeJob) -> Decimal:
    """What is set aside for the first call at least: its answer, and of its prompt what is no place for a value."""
    actor, prompt = job.actor, job.loaded.scenario.prompt
    settings = actor.identity.settings
    if actor.price is None or settings is None or settings.max_output_tokens is None:
        return Decimal(0)  # it is refused by what cannot be bounded
    told = sum(len(_PLACE.sub("", text)) for text in (prompt.system or "", prompt.user))
    return meter.most(actor.price, input_tokens=told, output_tokens=settings.max_output_tokens)


def _usd(micro: Decimal) -> str:
    return f"${(micro / MICRO).normalize():f}"
