"""``harness check``: hold scenarios against their own scripts, without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from harness import wiring
from harness.cli.check_recordings import check_recordings
from harness.cli.exit_codes import ExitCode, gravest
from harness.cli.options import executor_option, format_option, sandbox_option, sandbox_said
from harness.cli.output import folded, note, say, say_json
from harness.cli.progress import progress
from harness.cli.selection import choose_all
from harness.errors import InputError, PlaneMissingError
from harness.schema.actor import ActorSpec
from harness.schema.base import JsonValue
from harness.schema.check import CheckReport, Coverage
from harness.schema.counting import counted, worded
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult
from harness.schema.scenario import LoadedScenario
from harness.schema.trace import EpisodeTrace
from harness.suite import IDLE_SCRIPTS, check_scenario
from harness.suite.pairs import check_pairs
from harness.wiring.places import load_variant

__all__ = ["check"]

_EPILOG = """\b
Examples:
  harness check
  harness check loopx/capability-repair --format json
  harness check --mutate-recording
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("selection", nargs=-1, metavar="[SCENARIO|GLOB|tag:TAG]...")
@click.option(
    "--mutate-recording",
    "mutate",
    is_flag=True,
    help="Change every leaf of every recorded request and answer, one at a time, and demand that each is noticed.",
)
@format_option("How the result is printed.")
@executor_option("How the control plane is run.")
@sandbox_option
@click.pass_context
def check(context: click.Context, *, selection: tuple[str, ...], mutate: bool, form: str, executor: str) -> ExitCode:
    """Play the scripts of scenarios (default: all) and demand what makes a scenario worth trusting.

    The reference and every right script pass; doing nothing fails; every wrong script gets the code it is named by;
    every kind, fact and code is reached; every answer check goes red when the stored answer is changed where it looks;
    both variants of a pair are judged as it promises. Recordings of the scenarios are replayed, and must still fit. A
    file that cannot be used is told, the others are checked, and the exit code is 4.
    """
    settings = wiring.settings()
    chosen, planes, unusable = _usable(settings, selection)
    broken = (*unusable.files, *unusable.planes.values())
    for error in broken:
        note(f"harness: {error}")
    if not chosen:
        return ExitCode.BAD_INPUT
    options = EpisodeOptions(executor="cold" if executor == "cold" else "warm", sandbox=sandbox_said(context))
    reports: list[CheckReport] = []
    with wiring.Session(settings) as session, progress(_episodes(settings, chosen)) as advance:
        for one in chosen:
            trace = _tracer(session, one, planes[one.scenario.plane], options, advance)
            report = check_scenario(one, trace=trace)
            wrong = tuple(check_pairs(one.scenario, _pair_player(session, one, planes, options, advance)))
            reports.append(report.model_copy(update={"findings": (*report.findings, *wrong)}))
            with advance.aside():
                if form == "jsonl":
                    say_json(reports[-1].model_dump(mode="json"))
                elif form == "text":
                    say(_text(reports[-1]))
        replayed = check_recordings(
            *(settings, session, chosen, planes, options),
            everything=not selection,
            mutate=mutate,
            form=form,
            advance=advance,
        )
    if form == "text":
        say(f"{_fine(reports, unusable)}; {replayed.counts}")
    if form == "json":
        recordings: list[JsonValue] = [report.model_dump(mode="json") for report in replayed.reports]
        scenarios: list[JsonValue] = [report.model_dump(mode="json") for report in reports]
        told: list[JsonValue] = [*map(str, broken), *replayed.broken]
        document: dict[str, JsonValue] = {"scenarios": scenarios, "recordings": recordings}
        uncovered: list[JsonValue] = [*replayed.uncovered]
        more: dict[str, JsonValue] = {
            "uncovered": uncovered,
            "strays": list(replayed.strays),
            "broken": told,
            "to_do": list(replayed.commands),
        }
        say_json({**document, **more}, indent=2)
    failed = ExitCode.FAILED if any(report.findings for report in reports) else ExitCode.PASSED
    unread = ExitCode.BAD_INPUT if broken else ExitCode.PASSED
    return gravest((failed, replayed.exit_code, unread))


def _episodes(settings: wiring.Settings, chosen: Sequence[LoadedScenario]) -> int:
    """How many are played: every script, those that do nothing, and every recording."""
    scripts = [one.scenario.script for one in chosen]
    played = sum(1 + len(one.right) + len(one.wrong) + len(IDLE_SCRIPTS) for one in scripts)
    played += sum(2 * len(one.scenario.pair) for one in chosen)
    return played + sum(len(wiring.recorded_paths(settings, one)) for one in chosen)


def _fine(reports: Sequence[CheckReport], unusable: _Unusable) -> str:
    """How many scenarios are fine, and of how many; how many files are not checked, and what would change that."""
    fine, total = sum(not report.findings for report in reports), len(reports)
    share = counted(total, "scenario") if fine == total else f"{fine} of {counted(total, 'scenario')}"
    unread = f", {unusable.count} more cannot be used" if unusable.count else ""
    missing = [error.plane for error in unusable.planes.values() if isinstance(error, PlaneMissingError)]
    if missing:
        unread += f" (type: {'; '.join(f'harness plane install {plane}' for plane in missing)})"
    return f"{share} {worded(total, 'is', 'are')} fine{unread}"


@dataclass(frozen=True, slots=True)
class _Unusable:
    """What is not checked: ``files`` that cannot be read, and ``count`` with those whose control plane is not there."""

    files: tuple[InputError, ...]
    planes: dict[str, InputError]
    count: int


def _usable(
    settings: wiring.Settings, selection: Sequence[str]
) -> tuple[tuple[LoadedScenario, ...], dict[str, PlaneIdentity], _Unusable]:
    """The scenarios that can be checked here, their control planes, and why the others cannot."""
    chosen, unread = choose_all(settings, selection)
    planes: dict[str, PlaneIdentity] = {}
    missing: dict[str, InputError] = {}
    for plane in dict.fromkeys(one.scenario.plane for one in chosen):
        try:
            planes[plane] = wiring.plane_identity(settings, plane)
        except InputError as error:
            missing[plane] = error
    usable = tuple(one for one in chosen if one.scenario.plane in planes)
    return usable, planes, _Unusable(unread, missing, len(unread) + len(chosen) - len(usable))


def _tracer(
    session: wiring.Session,
    loaded: LoadedScenario,
    plane: PlaneIdentity,
    options: EpisodeOptions,
    advance: Callable[[EpisodeResult], None],
) -> Callable[[ActorSpec], tuple[EpisodeResult, EpisodeTrace | None]]:
    def trace(actor: ActorSpec) -> tuple[EpisodeResult, EpisodeTrace | None]:
        result, seen = session.trace(EpisodeJob(loaded=loaded, actor=actor, plane=plane, options=options))
        advance(result)
        return result, seen

    return trace


def _pair_player(
    session: wiring.Session,
    loaded: LoadedScenario,
    planes: dict[str, PlaneIdentity],
    options: EpisodeOptions,
    advance: Callable[[EpisodeResult], None],
) -> Callable[[str, ActorSpec], Receipt]:
    def play(name: str, actor: ActorSpec) -> Receipt:
        variant = load_variant(loaded, name)
        trace = _tracer(session, variant, planes[loaded.scenario.plane], options, advance)
        return trace(actor)[0].receipt

    return play


def _text(report: CheckReport) -> str:
    """One line, then what is wrong; findings that say the same of several places are told once."""
    red = "all red" if report.red == report.mutations else f"{report.red} red"
    counts = ", ".join(
        (
            counted(report.scripts, "script"),
            f"kinds {_of(report.kinds)}",
            f"facts {_of(report.facts)}",
            f"codes {_of(report.codes)}",
            f"{counted(report.mutations, 'mutation')}, {red}" if report.mutations else "no mutation",
        )
    )
    lines = [f"{'fine' if not report.findings else 'NOT FINE'}  {report.scenario}  {counts}"]
    places: dict[tuple[str, str], list[str]] = {}
    for finding in report.findings:
        places.setdefault((finding.what, finding.todo), []).append(finding.where)
    for (what, todo), where in places.items():
        lines += [folded(f"{', '.join(where)}:", "  "), folded(what, "    "), folded(f"to do: {todo}", "    ")]
    return "\n".join(lines)


def _of(coverage: Coverage) -> str:
    return f"{coverage.reached}/{coverage.total}"
