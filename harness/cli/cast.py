"""Who plays which scenario, and what of its recordings cannot be played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness import recording, wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.output import note
from harness.errors import (
    CatalogError,
    InputError,
    NothingSelectedError,
    RecordingError,
    UsageError,
)
from harness.schema.actor import ActorSpec
from harness.schema.counting import of_all, worded
from harness.schema.scenario import LoadedScenario
from harness.wiring.places import imported_recording, recorded_file

__all__ = ["Cast", "cast", "recorded_files", "uncovered_line"]

_RECORDED = "recorded"


@dataclass(slots=True)
class Cast:
    """The actors of each scenario, by id.

    ``broken`` are recordings that cannot be read, ``uncovered`` scenarios of which nothing is recorded that was asked
    for, of all ``chosen``.
    """

    chosen: int = 0
    actors: dict[str, list[ActorSpec]] = field(default_factory=dict)
    broken: list[RecordingError] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)
    strays: wiring.Strays | None = None

    def tell(self, *, tolerate_strays: bool = False) -> set[ExitCode]:
        """Say on standard error what is not played, a line each; the exit codes that this means."""
        for error in self.broken:
            note(f"harness: {error}")
        if self.uncovered:
            note(f"harness: {uncovered_line(self.uncovered, self.chosen)}")
        for orphan in () if self.strays is None else self.strays.orphans:
            note(f"harness: stray recording {orphan}: its scenario is not there; remove it, or give the scenario back")
        for half in () if self.strays is None else self.strays.halves:
            note(f"harness: {half}; it is not played, and harness record --replace makes it anew")
        codes = {ExitCode.BAD_INPUT} if self.broken else set()
        if self.strays is not None and self.strays.paths and not tolerate_strays:
            codes.add(ExitCode.DRIFT)
        return codes

    def refuse_nobody(self) -> None:
        """Raise where nobody plays: RecordingError where what is recorded cannot be read, else NothingSelectedError."""
        if any(self.actors.values()):
            return
        if self.broken:
            first, self.broken = self.broken[0], self.broken[1:]
            self.tell()
            raise first
        self.uncovered = []
        self.tell()
        raise NothingSelectedError("nothing is recorded of what is chosen; record it with harness record")


def cast(
    settings: wiring.Settings,
    chosen: Sequence[LoadedScenario],
    actors: Sequence[str],
    sets: Sequence[str],
    *,
    selection: Sequence[str] = (),
) -> Cast:
    """The actors that texts name, for each of the scenarios that ``selection`` chose (empty: all there are).

    A recording that is named by its file plays the scenario that it holds, and no other. Raises UsageError for a file
    that holds none of them, and for a scenario of the selection that is named and that no such file holds,
    CatalogError for a recording that no chosen scenario has, and what ``wiring.actor_specs`` raises.
    """
    made = Cast(len(chosen), {one.scenario.id: [] for one in chosen})
    files = recorded_files(settings, actors)
    _refuse_others(chosen, selection, files)
    for text in actors:
        if text in files:
            holders = [one for one in chosen if one.scenario.id == files[text]]
            if not holders:
                raise UsageError(f"{text} holds {files[text]}, which is not among the chosen scenarios")
            _add_recorded(settings, made, holders, text, sets)
        elif text.partition(":")[0] == _RECORDED:
            _add_recorded(settings, made, chosen, text, sets)
        else:
            for one in chosen:
                made.actors[one.scenario.id] += wiring.actor_specs(settings, text, one, sets)
    if _RECORDED in actors:
        made.strays = wiring.strays(settings, chosen, everything=not selection)
    return made


def recorded_files(settings: wiring.Settings, actors: Sequence[str]) -> dict[str, str]:
    """The scenario that each recording holds which is named by its file, by the text that names it.

    Raises RecordingError for one that cannot be read, or that is of no scenario.
    """
    found: dict[str, str] = {}
    for text in actors:
        head, _, name = text.partition(":")
        file = recorded_file(settings, name) if head == _RECORDED else None
        if file is not None:
            header = recording.header_of(file)
            if header.provenance == "imported":
                raise imported_recording(file)
            found[text] = header.scenario
    return found


def uncovered_line(names: Sequence[str], total: int) -> str:
    """How many scenarios have no recording, and which."""
    have = worded(len(names), "has", "have")
    return f"{of_all(len(names), total, 'scenario')} {have} no recording: {', '.join(names)}"


def _refuse_others(chosen: Sequence[LoadedScenario], selection: Sequence[str], files: Mapping[str, str]) -> None:
    named = {Path(pattern).resolve() if pattern.endswith(".toml") else pattern for pattern in selection}
    for one in chosen if files else ():
        is_named = one.scenario.id in named or Path(one.path).resolve() in named
        if is_named and one.scenario.id not in files.values():
            held = ", ".join(f"{text} holds {scenario}" for text, scenario in files.items())
            raise UsageError(f"{one.scenario.id} is not what is recorded: {held}; leave out what is named besides")


def _add_recorded(
    settings: wiring.Settings, made: Cast, chosen: Sequence[LoadedScenario], text: str, sets: Sequence[str]
) -> None:
    _, colon, name = text.partition(":")
    unknown: list[CatalogError] = []
    for one in chosen:
        try:
            paths = wiring.recorded_choice(settings, one, name if colon else None)
        except CatalogError as error:
            unknown.append(error)
            paths = ()
        if not paths:
            made.uncovered.append(f"{one.scenario.id} ({text})" if colon else one.scenario.id)
        for path in paths:
            try:
                made.actors[one.scenario.id] += wiring.actor_specs(settings, f"{_RECORDED}:{path}", one, sets)
            except RecordingError as error:
                made.broken.append(error)
    if len(unknown) == len(chosen):
        raise _unknown(name, unknown)


def _unknown(name: str, errors: Sequence[CatalogError]) -> InputError:
    known = {there for error in errors for there in error.known}
    return errors[0] if len(errors) == 1 else CatalogError("recording", name, tuple(sorted(known)))
