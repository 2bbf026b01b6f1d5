"""The half of ``harness check`` that holds recordings against the present."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness import recording, wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.output import folded, note, on_terminal, say, say_json, width
from harness.cli.progress import Progressing
from harness.errors import InputError
from harness.schema.actor import ActorSpec
from harness.schema.check import RecordingReport
from harness.schema.counting import counted, of_all, worded, worded_of
from harness.schema.process import PlaneIdentity
from harness.schema.run import EpisodeJob, EpisodeOptions
from harness.schema.scenario import LoadedScenario
from harness.suite import refuse_twins

__all__ = ["Replayed", "check_recordings"]

#: Survivors that are told one by one; the count is told anyway.
_TOLD = 10
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of all recordings; ``strays`` are files that belong to no scenario, or are not whole.

    ``broken`` are the error lines of recordings that cannot be read, ``uncovered`` the scenarios without any.
    """

    reports: tuple[RecordingReport, ...]
    strays: tuple[str, ...]
    broken: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()

    @property
    def counts(self) -> str:
        """All of it in numbers; what there is none of is left out."""
        total = len(self.reports) + len(self.broken)
        stale = sum(bool(report.drifts) for report in self.reports)
        blind = sum(bool(report.survivors) and not report.drifts for report in self.reports)
        sorts = [(stale, "stale"), (len(self.broken), "unreadable"), (blind, "blind to mutations")]
        found = [(number, word) for number, word in sorts if number]
        told = [f"{counted(total, 'recording')} {worded(total, 'fits', 'fit')}" if total else "no recording"]
        if found:
            (first, word), *rest = found
            share = f"{of_all(first, total, 'recording')} {worded_of(first, total, 'is', 'are')} {word}"
            told = [share, *(f"{number} {word}" for number, word in rest)]
        if self.strays:
            told.append(counted(len(self.strays), "stray"))
        if self.uncovered and total:
            named = f": {', '.join(self.uncovered)}" if len(self.uncovered) <= _NAMED else ""
            told.append(f"{counted(len(self.uncovered), 'scenario')} without a recording{named}")
        return ", ".join(told)

    @property
    def commands(self) -> tuple[str, ...]:
        """What records anew all that no longer fits, to be pasted."""
        return recording.commands(report.again for report in self.reports if report.again is not None)

    @property
    def exit_code(self) -> ExitCode:
        """Bad input where one cannot be read; drift where one no longer fits or is a stray; else failed or passed."""
        if self.broken:
            return ExitCode.BAD_INPUT
        if self.strays or any(report.drifts for report in self.reports):
            return ExitCode.DRIFT
        return ExitCode.FAILED if any(report.survivors for report in self.reports) else ExitCode.PASSED


def check_recordings(
    settings: wiring.Settings,
    session: wiring.Session,
    chosen: Sequence[LoadedScenario],
    planes: Mapping[str, PlaneIdentity],
    options: EpisodeOptions,
    *,
    everything: bool,
    mutate: bool,
    form: str,
    advance: Progressing,
) -> Replayed:
    """Replay every recording of the scenarios, against the real control plane, and tell what no longer fits.

    ``everything``: no scenario was left out, so that what belongs to none of them is a stray.
    """
    reports: list[RecordingReport] = []
    broken: list[str] = []
    uncovered: list[str] = []
    for one in chosen:
        before = len(broken)
        with advance.aside():
            specs = tuple(_readable(settings, one, broken))
        if not specs and len(broken) == before:
            uncovered.append(one.scenario.id)
        refuse_twins(one.scenario.id, specs)
        for spec in specs:
            job = EpisodeJob(
                loaded=one, actor=spec, plane=planes[one.scenario.plane], trial=spec.trial or 1, options=options
            )
            reports.append(_report(settings, session, job, mutate=mutate))
            advance.finished(one.scenario.id)
            with advance.aside():
                _tell(reports[-1], mutate=mutate, form=form)
    found = wiring.strays(settings, chosen, everything=everything)
    with advance.aside():
        if form == "text":
            for line in Replayed(tuple(reports), ()).commands:
                say(f"to record anew what is stale: {line}")
        _tell_strays(found, form)
        if mutate and form == "text":
            total = sum(report.mutations for report in reports)
            missed = sum(len(report.survivors) for report in reports)
            say(f"{counted(total, 'mutation')} of {counted(len(reports), 'recording')}, {total - missed} noticed")
    return Replayed(tuple(reports), found.paths, tuple(broken), tuple(uncovered))


#: More names than these fit on no line; ``--format json`` has them all.
_NAMED: Final = 2


def _tell(report: RecordingReport, *, mutate: bool, form: str) -> None:
    if form == "jsonl":
        say_json(report.model_dump(mode="json"))
    elif form == "text":
        say(_text(report, mutate=mutate))


def _tell_strays(found: wiring.Strays, form: str) -> None:
    """Where they belong to the text; to whoever waits where each line is a document of its own."""
    if form == "jsonl":
        for path in found.paths:
            note(f"harness: stray recording: {path}")
    if form != "text":
        return
    for orphan in found.orphans:
        say(f"STRAY  {orphan}\n    to do: remove it, or give its scenario back")
    for half in found.halves:
        say(folded(f"STRAY  {half}", "    "))
        say("    to do: harness record --replace records anew and then removes it, or remove it")


def _readable(settings: wiring.Settings, one: LoadedScenario, broken: list[str]) -> Iterator[ActorSpec]:
    """The recorded actors of a scenario; a recording that cannot be read is told, and kept in ``broken``."""
    for path in wiring.recorded_paths(settings, one):
        try:
            yield from wiring.recorded_specs(settings, one, str(path))
        except InputError as error:
            broken.append(str(error))
            note(f"harness: {error}")


def _report(settings: wiring.Settings, session: wiring.Session, job: EpisodeJob, *, mutate: bool) -> RecordingReport:
    return wiring.recording_report(settings, session, job, mutate=mutate)


def _text(report: RecordingReport, *, mutate: bool) -> str:
    name = f"{report.scenario}  {report.recording}  {report.provenance}"
    if report.drifts:
        told = recording.tell(report.drifts, width() - len(_INDENT) if on_terminal() else None)
        return "\n".join([f"STALE  {name}", *(f"{_INDENT}{line}" for line in told)])
    if not mutate:
        return f"fits  {name}"
    noticed = report.mutations - len(report.survivors)
    lines = [f"{'fits' if not report.survivors else 'BLIND'}  {name}  {report.mutations} mutations, {noticed} noticed"]
    for survivor in report.survivors[:_TOLD]:
        place = "the header" if survivor.exchange is None else f"exchange {survivor.exchange}"
        if survivor.step is not None:
            place = f"step {survivor.step}"
        lines.append(folded(f"not noticed: {survivor.way} at {place} {survivor.pointer}", "  "))
    return "\n".join(lines)
