"""What no test wanted: snapshots without an actor, recordings without a scenario, halves of recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness import recording, wiring
from harness.pytest_plugin.ledger import Ledger
from harness.pytest_plugin.options import actors_were_chosen, scenario_folders, snapshot_folder, updating
from harness.pytest_plugin.recognising import is_scenario
from harness.pytest_plugin.telling import near

__all__ = ["Leftovers", "look"]

_SNAPSHOTS = "*.json"


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Lines to print, whether the session fails for them, and how many there still are."""

    lines: tuple[str, ...]
    fails: bool
    count: int = 0


def look(config: pytest.Config, ledger: Ledger) -> Leftovers:
    """Look for leftovers where everything was chosen; what a part of the tests did not want proves nothing.

    Snapshots that nobody wants are deleted where snapshots are updated.
    """
    if actors_were_chosen(config):
        return Leftovers((), fails=False)
    unused = sorted({*_of_actors(ledger), *_of_scenarios(config, ledger)})
    others = [*_recordings(config, ledger)]
    if updating(config) and not config.getoption("no_cleanup", default=False):
        for path in unused:
            _remove(path)
        told = [f"unused snapshot, removed: {near(path, config.rootpath)}" for path in unused]
        return Leftovers((*told, *others), fails=bool(others), count=len(others))
    told = [f"unused snapshot: {near(path, config.rootpath)}" for path in unused]
    if told:
        told.append("no test asks for these; delete them, or type: pytest --snapshot-update")
    tolerated = bool(config.getoption("warn_unused_snapshots", default=False))
    fails = bool(others) or (bool(unused) and not tolerated)
    return Leftovers((*told, *others), fails=fails, count=len(unused) + len(others))


def _of_actors(ledger: Ledger) -> Iterator[Path]:
    """Snapshots of scenarios that are there, of actors that are not."""
    for entry in ledger.files.values():
        for folder, names in entry.folders.items() if entry.whole else ():
            yield from (path for path in Path(folder).glob(_SNAPSHOTS) if path.name not in names)


def _of_scenarios(config: pytest.Config, ledger: Ledger) -> Iterator[Path]:
    """Snapshots of scenarios that are not there."""
    if (
        not scenario_folders(config)
        and config.getini("harness_snapshots")
        and config.args_source is pytest.Config.ArgsSource.ARGS
    ):
        # the one folder may hold the snapshots of scenarios that nobody named
        return
    wanted = {Path(folder) for entry in ledger.files.values() for folder in entry.folders}
    for shelf in _whole(config, ledger, lambda root: snapshot_folder(config, root)):
        yield from (path for path in shelf.glob(f"*/*/{_SNAPSHOTS}") if path.parent not in wanted)


def _recordings(config: pytest.Config, ledger: Ledger) -> Iterator[str]:
    place = wiring.settings()
    for folder, roots in _whole(config, ledger, lambda root: root.parent / "recordings").items():
        known = wiring.scenarios(replace(place, search=(*roots, *place.search)))
        for path in recording.orphans(folder, known):
            yield f"recording without a scenario: {near(path, config.rootpath)}; move it to its scenario, or delete it"
        for half in recording.halves_below(folder):
            told = replace(half, path=Path(near(half.path, config.rootpath)))
            yield f"{told}: harness record --replace makes it anew and then removes it; or delete it"


def _whole(config: pytest.Config, ledger: Ledger, place_of: Callable[[Path], Path]) -> dict[Path, tuple[Path, ...]]:
    """Places that folders of scenarios have, perhaps in common, and these folders: where every test was chosen."""
    folders = scenario_folders(config)
    chosen = {path for path, entry in ledger.files.items() if entry.whole}
    places: dict[Path, list[Path]] = {}
    for root in dict.fromkeys((*folders, *(Path(path).parent.parent for path in ledger.files))):
        places.setdefault(place_of(root), []).append(root)
    return {
        place: tuple(roots)
        for place, roots in places.items()
        if all(str(path) in chosen for root in roots for path in root.glob("*/*.toml") if is_scenario(path, folders))
    }


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    if not any(path.parent.iterdir()):
        path.parent.rmdir()
