"""The half of ``harness check`` that holds recordings against the present."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness import recording, wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.output import folded, note, on_terminal, say, say_json, width
from harness.cli.progress import progress
from harness.errors import InputError
from harness.schema.actor import ActorSpec
from harness.schema.check import RecordingReport
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

    ``broken`` are the error lines of recordings that cannot be read.
    """

    reports: tuple[RecordingReport, ...]
    strays: tuple[str, ...]
    broken: tuple[str, ...] = ()

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
    mutate: bool,
    form: str,
) -> Replayed:
    """Replay every recording of the scenarios, against the real control plane, and tell what no longer fits."""
    reports: list[RecordingReport] = []
    broken: list[str] = []
    for one in chosen:
        specs = tuple(_readable(settings, one, broken))
        refuse_twins(one.scenario.id, specs)
        for spec in specs:
            job = EpisodeJob(
                loaded=one, actor=spec, plane=planes[one.scenario.plane], trial=spec.trial or 1, options=options
            )
            with progress(None):
                report = _report(settings, session, job, mutate=mutate)
            reports.append(report)
            if form == "jsonl":
                say_json(report.model_dump(mode="json"))
            elif form == "text":
                say(_text(report, mutate=mutate))
    folder = settings.cwd / "recordings"
    orphans = recording.orphans(folder, wiring.scenarios(settings))
    halves = recording.halves_below(folder)
    if form == "text":
        for line in Replayed(tuple(reports), ()).commands:
            say(f"to record anew what is stale: {line}")
        for orphan in orphans:
            say(f"STRAY  {orphan}\n    to do: remove it, or give its scenario back")
        for half in halves:
            say(folded(f"STRAY  {half}", "    "))
            say("    to do: harness record --replace records anew and then removes it, or remove it")
        if mutate:
            total = sum(report.mutations for report in reports)
            missed = sum(len(report.survivors) for report in reports)
            say(f"{total} mutations of {len(reports)} recordings, {total - missed} noticed")
    return Replayed(tuple(reports), tuple(map(str, (*orphans, *(half.path for half in halves)))), tuple(broken))


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
    name = f"{report.scenario}  {report.recording}"
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
