"""A scenario file as a collector, and one actor's turn at it as a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from harness import recording, wiring
from harness.clock import SystemClock
from harness.errors import HarnessError, RecordingError
from harness.pytest_plugin.ledger import LEDGER, ScenarioEntry
from harness.pytest_plugin.options import actors, snapshot_folder, trials
from harness.pytest_plugin.playing import Part, play
from harness.pytest_plugin.snapshots import file_name
from harness.schema.scenario import LoadedScenario
from harness.wiring.places import load_variant, variants
from harness.wiring.quarantine import Quarantine, quarantine

__all__ = ["ScenarioFile", "ScenarioTest"]

_REFERENCE = "script:reference"
#: Syrupy wants folders to be called as test files are; that of a variant's snapshots is called as the variant.
_UNRELATED = r"ignore:\s*Can not relate snapshot:UserWarning"


class ScenarioTest(pytest.Function):
    """One scenario and actor. ``snapshots`` is the folder of the scenario's snapshots."""

    actor: str
    part: Part
    snapshots: Path

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The scenario file, not this plugin."""
        return self.path, None, self.name


class ScenarioFile(pytest.Module):
    """Its tests: every actor that was asked for, each as often as was asked for."""

    obj = None

    def collect(self) -> Iterable[pytest.Item]:
        """The tests. Raises CollectError in one line for a file that is no scenario."""
        folder = self.path.parent.parent
        place = replace(wiring.settings(), search=(folder,))
        entry = ScenarioEntry()
        try:
            standing = quarantine(replace(place, cwd=folder.parent), SystemClock().now(), lambda _: ())
            loaded = wiring.load_scenario(place, str(self.path))
            parts = [("", loaded), *((f"{name}/", load_variant(loaded, name)) for name in variants(self.path))]
            tests = [test for prefix, one in parts for test in self._tests(place, one, prefix, entry, standing)]
        except HarnessError as error:
            raise self.CollectError(f"harness: {error}") from None
        entry.planned = len(tests)
        self.config.stash[LEDGER].files[str(self.path)] = entry
        return tests

    def _tests(
        self,
        place: wiring.Settings,
        loaded: LoadedScenario,
        prefix: str,
        entry: ScenarioEntry,
        standing: Quarantine,
    ) -> list[ScenarioTest]:
        """The tests of the file, or of a variant of it. Raises HarnessError."""
        recordings = _recordings(place, loaded)
        ledger, asked = self.config.stash[LEDGER], actors(self.config)
        folder = snapshot_folder(self.config, self.path.parent.parent) / loaded.scenario.id
        entry.folders[str(folder)] = []
        meant = {actor: _meant(actor, recordings) for actor in asked if actor.startswith("recorded:")}
        ledger.met.update((*_scripts(loaded), *(actor for actor, found in meant.items() if found)))
        ledger.recorded.update(recordings)
        twins = _twins(recordings)
        tests = [
            self._test(
                prefix + name,
                actor,
                Part(loaded, f"recorded:{kept}" if kept is not None else actor, standing, twins.get(actor)),
                folder,
            )
            for actor in _asked(asked, loaded, recordings, meant)
            for kept in (recordings.get(actor),)
            for name in _names(actor, 1 if kept is not None else trials(self.config))
        ]
        entry.folders[str(folder)] = sorted({file_name(test.actor) for test in tests})
        return tests

    def _test(self, name: str, actor: str, part: Part, folder: Path) -> ScenarioTest:
        test: ScenarioTest = ScenarioTest.from_parent(self, name=name, callobj=play)
        test.actor, test.part, test.snapshots = actor, part, folder
        test.add_marker("harness")
        if folder.name != self.path.stem:
            test.add_marker(pytest.mark.filterwarnings(_UNRELATED))
        return test


def _recordings(place: wiring.Settings, loaded: LoadedScenario) -> dict[str, Path]:
    """Recordings by the actor that each is; whether one can be read is seen by its own test."""
    found = (recording.find(folder, loaded.scenario.id) for folder in wiring.recording_folders(place))
    return {f"recorded:{path.stem}": path for paths in found for path in paths}


def _twins(recordings: Mapping[str, Path]) -> dict[str, str]:
    """By actor the first of the recordings that record the same episode, for all but that first."""
    first: dict[tuple[str, int], str] = {}
    found: dict[str, str] = {}
    for actor, path in recordings.items():
        with suppress(RecordingError):
            header = recording.header_of(path)
            other = first.setdefault((wiring.replayed_digest(header), header.trial), actor)
            if other != actor:
                found[actor] = other
    return found


def _scripts(loaded: LoadedScenario) -> tuple[str, ...]:
    scripts = loaded.scenario.script
    return (_REFERENCE, *(f"script:{name}" for name in (*scripts.right, *scripts.wrong)))


def _meant(actor: str, recordings: Mapping[str, Path]) -> tuple[str, ...]:
    """The recordings that ``recorded:NAME`` means here. Raises UsageError where several actors are called so."""
    some = recording.chosen(recordings.values(), actor.partition(":")[2])
    return tuple(f"recorded:{path.stem}" for path in some)


def _asked(
    asked: Iterable[str], loaded: LoadedScenario, recordings: Iterable[str], meant: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The actors that this scenario has of those asked for, in that order; ``meant`` are recordings by other names."""
    scripts = _scripts(loaded)
    groups = {"recorded": tuple(recordings), "script": (_REFERENCE,), "all-scripts": scripts, **meant}
    return tuple(
        dict.fromkeys(name for actor in asked for name in groups.get(actor, (actor,) if actor in scripts else ()))
    )


def _names(actor: str, times: int) -> tuple[str, ...]:
    """What each time is called; no brackets, which pytest would take for parameters of a function."""
    return (actor,) if times == 1 else tuple(f"{actor}#{number}" for number in range(1, times + 1))
