"""``harness qualify --power-plan``: how many trials find a drop, and what they cost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final, ParamSpec, Self, TypeVar

import click

from harness import wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.grouped import in_order, keep, kept
from harness.cli.judged_runs import figures_of, read_judged, trials_by_actor
from harness.cli.options import NumberRange
from harness.cli.output import folded, harmless, note, say, say_json
from harness.cli.rates_told import line
from harness.cli.standing import duration
from harness.errors import NothingSelectedError, StoreError, UsageError
from harness.qualification.comparing import ALPHA
from harness.qualification.planning import MOST_TRIALS
from harness.qualification.power import actor_power, expected_power, power_plan
from harness.receipt import read_manifest
from harness.schema.counting import counted, percent, worded
from harness.schema.money import told_usd
from harness.schema.power import ActorPower, PowerPlan
from harness.schema.run import Manifest

__all__ = ["Power", "power_options", "tell_plan"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Power:
    """What is to be found, how often, and what is expected; shares between 0 and 1."""

    detect: float
    power: float
    expect: float | None

    @classmethod
    def of(cls, context: click.Context) -> Self | None:
        """What a command was told whose options were read; None where no plan is asked for. Raises UsageError."""
        by_hand = click.core.ParameterSource.COMMANDLINE
        if not kept(context, "power_plan"):
            for name in ("detect", "power", "expect"):
                if context.get_parameter_source(name) is by_hand:
                    raise UsageError(f"--{name} goes beside --power-plan")
            return None
        detect, power, expect = (kept(context, name) for name in ("detect", "power", "expect"))
        return cls(_number(detect), _number(power), None if expect is None else _number(expect))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def power_options(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """The options; the verb finds what they say with ``Power.of``."""
    return in_order(verb, _OPTIONS)


_OPTIONS: Final = (
    click.option(
        "--power-plan",
        is_flag=True,
        expose_value=False,
        callback=keep,
        help="Tell how many trials find a drop, and what they cost, going by RUN (or the newest run).",
    ),
    click.option(
        "--detect",
        type=NumberRange(0.001, 1),
        default=0.05,
        show_default=True,
        metavar="SHARE",
        expose_value=False,
        callback=keep,
        help="The drop to be found: 0.05 is five points.",
    ),
    click.option(
        "--power",
        type=NumberRange(0.5, 0.99),
        default=0.8,
        show_default=True,
        metavar="SHARE",
        expose_value=False,
        callback=keep,
        help="How often such a drop is to be found.",
    ),
    click.option(
        "--expect",
        type=NumberRange(0, 1),
        metavar="RATE",
        expose_value=False,
        callback=keep,
        help="Plan for a model that passes that often, instead of as often as in the run.",
    ),
)


def tell_plan(asked: Power, runs: tuple[Path, ...], form: str) -> ExitCode:
    """Print the plan for the actors of runs, or of the newest one where none is named. Raises InputError."""
    if form == "csv":
        raise UsageError("--power-plan is printed as text, json or jsonl")
    settings = wiring.settings()
    if not runs:
        newest = _newest(settings.reports)
        runs = () if newest is None else (newest.relative_to(settings.cwd),)
    found = _of_runs(asked, runs) if runs else _of_nobody(asked, settings)
    plan = power_plan(found, detect=asked.detect, power=asked.power, alpha=ALPHA)
    if form == "json":
        say_json(plan.model_dump(mode="json"), indent=2)
    elif form == "jsonl":
        for one in plan.actors:
            say_json(one.model_dump(mode="json"))
    else:
        say("\n\n".join(_told(plan, runs)))
    return ExitCode.PASSED


def _of_runs(asked: Power, runs: tuple[Path, ...]) -> list[ActorPower]:
    views = read_judged(runs, by_version=True)
    trials = trials_by_actor(views)
    found = []
    for one in figures_of(views, trials):
        its, early = trials[one.run, one.actor], views[one.run].manifest.early
        power = actor_power(one, its, detect=asked.detect, power=asked.power, alpha=ALPHA, expect=asked.expect)
        if power is None:
            note(
                f"harness: {one.actor} is left out: no trial of it was judged; --expect RATE says how often it may pass"
            )
        else:
            is_moved = asked.expect is None and early is not None and early.is_cut_short
            found.append(power.model_copy(update={"ended_early": is_moved}))
    if not found:
        raise NothingSelectedError(
            f"{runs[0]}: no trial was judged, so there is nothing to plan by; give --expect RATE"
        )
    return found


def _of_nobody(asked: Power, settings: wiring.Settings) -> list[ActorPower]:
    if asked.expect is None:
        raise UsageError(
            "--power-plan goes by what a run passed and cost, and reports holds no complete one that did not end "
            "early; name a run, or say with --expect RATE how often a model may pass (0.8)"
        )
    scenarios = len(wiring.scenarios(settings))
    if not scenarios:
        raise NothingSelectedError("there is no scenario to plan for")
    return [expected_power(scenarios, asked.expect, detect=asked.detect, power=asked.power, alpha=ALPHA)]


def _newest(reports: Path) -> Path | None:
    """The run that was begun last of those that are complete and did not end early; None where there is none."""
    from harness.wiring.indexing import run_folders  # noqa: PLC0415  (a database, and only who names no run waits)

    found: list[tuple[str, Path]] = []
    for folder in run_folders(reports):
        manifest = _manifest(folder)
        if manifest is None or manifest.state != "complete" or not manifest.receipts:
            continue
        if manifest.early is None or not manifest.early.is_cut_short:
            found.append((manifest.created_at, folder))
    return max(found)[1] if found else None


def _manifest(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder)
    except StoreError:
        return None


def _told(plan: PowerPlan, runs: Sequence[Path]) -> Iterator[str]:
    by = f", going by {', '.join(map(str, runs))}" if runs else ""
    yield folded(
        f"to find a drop of {_points(plan.detect)} in {_often(plan.power)} comparisons{by}; "
        "equal models are taken for different ones in 1 of 20"
    )
    for one in plan.actors:
        yield "\n".join((harmless(_who(one, runs)), *(line(label, said) for label, said in _lines(one))))
    if plan.trials is None:
        yield folded(_out_of_reach(plan))
        return
    yield folded(f"all of it, with --trials {plan.trials}: {'; '.join(_taken(plan))}")


def _who(one: ActorPower, runs: Sequence[Path]) -> str:
    if not one.actor:
        return "a model that is expected to pass so often"
    return f"{one.actor} in {one.run}" if len(runs) > 1 or str(runs[0]) != one.run else one.actor


def _lines(one: ActorPower) -> Iterator[tuple[str, str]]:
    yield "passes", f"{percent(one.rate)}, the mean over {counted(one.scenarios, 'scenario')}"
    if one.ended_early:
        yield "", "the run ended early, which moved that rate; --expect RATE plans by another one"
    if one.low:
        cannot = worded(one.low, "it passes", "they pass")
        yield "", f"{one.low} of them cannot show such a drop: {cannot} less often than that"
    if one.trials is None or one.episodes is None:
        yield "needs", f"more than {MOST_TRIALS:,} trials of each scenario: out of reach"
    else:
        yield "needs", f"{counted(one.trials, 'trial')} of each scenario: {counted(one.episodes, 'episode')}"
        if one.kind == "live":
            yield "cost", _usd(one.usd, is_lower_bound=one.is_lower_bound)
        yield "time", _time(one.seconds)
    if one.has:
        has = f"{counted(one.has, 'trial')} of each scenario"
        found = "find no drop that often" if one.finds is None else f"find one of {_points(one.finds)}"
        yield "has", f"{has}, which {found}"


def _taken(plan: PowerPlan) -> Iterator[str]:
    yield counted(plan.episodes or 0, "episode")
    if any(one.kind == "live" for one in plan.actors):
        usd = _usd(plan.usd, is_lower_bound=plan.is_lower_bound)
        yield "cost unknown" if plan.usd is None else usd
    yield "time unknown" if plan.seconds is None else _time(plan.seconds)


def _out_of_reach(plan: PowerPlan) -> str:
    found = [one.finds for one in plan.actors if one.trials is None and one.finds is not None]
    nearest = f"; the trials that there are find one of {_points(max(found))}" if found else ""
    return f"a drop of {_points(plan.detect)} is out of reach with {MOST_TRIALS:,} trials of each scenario{nearest}"


def _usd(usd: Decimal | None, *, is_lower_bound: bool) -> str:
    if usd is None:
        return "unknown"
    told = told_usd(usd)
    return f"{told} or more, for the cost of some calls is unknown" if is_lower_bound else f"about {told}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    jobs = min(os.cpu_count() or 1, 8)
    one_by_one = f"about {duration(seconds)}"
    return one_by_one if jobs == 1 else f"{one_by_one} one by one, {duration(seconds / jobs)} with --jobs {jobs}"


def _points(share: float) -> str:
    return f"{100 * share:g} {worded(1 if share == 0.01 else 2, 'point', 'points')}"  # noqa: PLR2004  (one point)


def _often(power: float) -> str:
    """``8 of 10``, or of 100 where that is no whole number."""
    tenths = round(10 * power, 9)
    return f"{tenths:g} of 10" if tenths == int(tenths) else f"{100 * power:g} of 100"
