"""``harness check``: hold scenarios against their own scripts, without a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final

import click

from harness import wiring
from harness.cli.check_recordings import Replayed, check_recordings
from harness.cli.exit_codes import ExitCode, gravest
from harness.cli.options import executor_option, format_option, sandbox_option, sandbox_said
from harness.cli.output import folded, note, say, say_json
from harness.cli.progress import progress
from harness.cli.selection import choose_all
from harness.clock import SystemClock
from harness.errors import InputError, PlaneMissingError
from harness.schema.actor import ActorSpec
from harness.schema.base import JsonValue
from harness.schema.check import CheckReport, Coverage, DeepCount, DeepProbe
from harness.schema.counting import counted, worded
from harness.schema.process import PlaneIdentity
from harness.schema.receipt import Receipt
from harness.schema.run import EpisodeJob, EpisodeOptions, EpisodeResult
from harness.schema.scenario import LoadedScenario
from harness.schema.trace import EpisodeTrace
from harness.suite import IDLE_SCRIPTS, Deep, check_scenario, offered_codes, require_walker
from harness.suite.pairs import check_pairs
from harness.wiring.places import load_variant
from harness.wiring.quarantine import quarantine

__all__ = ["check"]

#: How often ``--deep`` walks in each scenario.
DEEP_WALKS: Final = 200

_EPILOG = """\b
Examples:
  harness check
  harness check loopx/capability-repair --format json
  harness check --mutate-recording
  harness check loopx/capability-repair --deep
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("selection", nargs=-1, metavar="[SCENARIO|GLOB|tag:TAG]...")
@click.option(
    "--mutate-recording",
    "mutate",
    is_flag=True,
    help="Change every leaf of every recorded request and answer, one at a time, and demand that each is noticed.",
)
@click.option(
    "--mutate-script",
    is_flag=True,
    help="Drop, swap, repeat each answer of the passing scripts, alter each argument: none may pass by accident.",
)
@click.option("--drop-fixtures", is_flag=True, help="Drop each part of the world in turn: somebody must notice.")
@click.option(
    "--walk",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Let an actor walk at random, N times a scenario, looking for what must never be.",
)
@click.option("--deep", is_flag=True, help="All of these, with 200 walks.")
@format_option("How the result is printed.")
@executor_option("How the control plane is run.")
@sandbox_option
@click.pass_context
def check(
    context: click.Context,
    *,
    selection: tuple[str, ...],
    mutate: bool,
    mutate_script: bool,
    drop_fixtures: bool,
    walk: int | None,
    deep: bool,
    form: str,
    executor: str,
) -> ExitCode:
    """Play the scripts of scenarios (default: all) and demand what makes a scenario worth trusting.

    The reference and every right script pass; doing nothing fails; every wrong script gets the code it is named by;
    every kind, fact and code is reached; every answer check goes red when the stored answer is changed where it looks;
    what a pass depends on is proved; the actor sees nothing of the answer key; no more is allowed than is needed; the
    wrong paths can be taken where no rule forbids them; both variants of a pair are judged as it promises. Findings
    that a scenario waives, with a reason, are left out. Recordings of the scenarios are replayed, and must still fit. A
    file that cannot be used is told, the others are checked, and the exit code is 4.
    """
    walks = walk or (DEEP_WALKS if deep else 0)
    asked = Deep(mutants=mutate_script or deep, fixtures=drop_fixtures or deep, walks=walks)
    if walks:
        require_walker()
    settings = wiring.settings()
    for remark in quarantine(settings, SystemClock().now(), wiring.scenarios).remarks(()):
        note(f"harness: {remark}")
    chosen, planes, unusable = _usable(settings, selection)
    broken = (*unusable.files, *unusable.planes.values())
    for said in dict.fromkeys(map(str, broken)):  # what is wrong with a file is wrong with each of its variants
        note(f"harness: {said}")
    if not chosen:
        return ExitCode.BAD_INPUT
    options = EpisodeOptions(executor="cold" if executor == "cold" else "warm", sandbox=sandbox_said(context))
    reports: list[CheckReport] = []
    total = None if asked != Deep() else _episodes(settings, chosen)
    with wiring.Session(settings) as session, progress(total) as advance:
        for one in chosen:
            play = _player(session, planes[one.scenario.plane], options, advance)
            report = check_scenario(one, play=play, deep=asked, jobs=min(os.cpu_count() or 1, 8))
            wrong = tuple(check_pairs(one.scenario, _pair_player(one, play)))
            reports.append(report.model_copy(update={"findings": (*report.findings, *wrong)}))
            with advance.aside():
                _tell(reports[-1], form)
        replayed = check_recordings(
            *(settings, session, chosen, planes, options),
            everything=not selection,
            mutate=mutate or deep,
            form=form,
            advance=advance,
        )
    if form == "text":
        say(f"{_fine(reports, unusable)}; {replayed.counts}")
    if form == "json":
        _say_json(reports, replayed, broken)
    failed = ExitCode.FAILED if any(report.findings for report in reports) else ExitCode.PASSED
    unread = ExitCode.BAD_INPUT if broken else ExitCode.PASSED
    return gravest((failed, replayed.exit_code, unread))


def _say_json(reports: Sequence[CheckReport], replayed: Replayed, broken: Sequence[InputError]) -> None:
    recordings: list[JsonValue] = [report.model_dump(mode="json") for report in replayed.reports]
    scenarios: list[JsonValue] = [report.model_dump(mode="json") for report in reports]
    document: dict[str, JsonValue] = {
        "scenarios": scenarios,
        "recordings": recordings,
        "uncovered": list(replayed.uncovered),
        "strays": list(replayed.strays),
        "broken": [*map(str, broken), *replayed.broken],
        "to_do": list(replayed.commands),
    }
    say_json(document, indent=2)


def _episodes(settings: wiring.Settings, chosen: Sequence[LoadedScenario]) -> int:
    """How many are played: every script, those that do nothing, control runs, and every recording."""
    scripts = [one.scenario.script for one in chosen]
    played = sum(1 + len(one.right) + len(one.wrong) + len(IDLE_SCRIPTS) for one in scripts)
    played += sum(len(offered_codes(one.scenario)) for one in chosen)
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


def _player(
    session: wiring.Session,
    plane: PlaneIdentity,
    options: EpisodeOptions,
    advance: Callable[[EpisodeResult], None],
) -> Callable[[LoadedScenario, ActorSpec], tuple[EpisodeResult, EpisodeTrace | None]]:
    told = Lock()

    def play(loaded: LoadedScenario, actor: ActorSpec) -> tuple[EpisodeResult, EpisodeTrace | None]:
        result, seen = session.trace(EpisodeJob(loaded=loaded, actor=actor, plane=plane, options=options))
        with told:
            advance(result)
        return result, seen

    return play


def _tell(report: CheckReport, form: str) -> None:
    if form == "jsonl":
        say_json(report.model_dump(mode="json"))
    elif form == "text":
        say(_text(report))


def _pair_player(
    loaded: LoadedScenario, play: Callable[[LoadedScenario, ActorSpec], tuple[EpisodeResult, EpisodeTrace | None]]
) -> Callable[[str, ActorSpec], Receipt]:
    return lambda name, actor: play(load_variant(loaded, name), actor)[0].receipt


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
    if report.waived:
        counts += f", {report.waived} waived"
    lines = [f"{'fine' if not report.findings else 'NOT FINE'}  {report.scenario}  {counts}"]
    lines += [folded(f"{name}: {_deep(name, count)}", "  ") for name, count in report.deep.items()]
    places: dict[tuple[str, str], list[str]] = {}
    for finding in report.findings:
        places.setdefault((finding.what, finding.todo), []).append(finding.where)
    for (what, todo), where in places.items():
        lines += [folded(f"{', '.join(where)}:", "  "), folded(what, "    "), folded(f"to do: {todo}", "    ")]
    return "\n".join(lines)


def _deep(name: DeepProbe, count: DeepCount) -> str:
    """Numbers; what there is none of is left out. What a walk found is a finding."""
    more = (
        (count.same, "the same in effect"),
        (count.declared, "declared equivalent"),
        (count.left_out, "left out"),
    )
    told = [f"{count.played} played", *([] if name == "walks" else [f"{count.noticed} noticed"])]
    return ", ".join((*told, *(f"{number} {word}" for number, word in more if number)))


def _of(coverage: Coverage) -> str:
    return f"{coverage.reached}/{coverage.total}"
