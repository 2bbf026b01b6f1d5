"""Which scenarios a command line means: ids, globs, tags and files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from harness import scenario, wiring
from harness.errors import NothingSelectedError, UsageError
from harness.schema.scenario import LoadedScenario

__all__ = ["choose"]

_FILE = ".toml"


def choose(settings: wiring.Settings, patterns: Sequence[str]) -> tuple[LoadedScenario, ...]:
    """The scenarios that the patterns choose, by id; all on the search path where there is no pattern.

    Only files that are chosen are read, so a broken one harms nobody who did not ask for it. Raises
    NothingSelectedError for an empty choice, CatalogError for an unknown id, ScenarioError for a broken file.
    """
    files = [pattern for pattern in patterns if pattern.endswith(_FILE)]
    others = [pattern for pattern in patterns if not pattern.endswith(_FILE)]

    @cache
    def loaded(name: str) -> LoadedScenario:
        return wiring.load_scenario(settings, name)

    names = (
        scenario.select(wiring.scenarios(settings), others, tags=lambda name: loaded(name).scenario.tags)
        if others or not files
        else ()
    )
    chosen: dict[str, LoadedScenario] = {}
    for name in (*names, *dict.fromkeys(files)):
        one = loaded(name)
        if one.scenario.id in chosen:
            other = chosen[one.scenario.id].path
            raise UsageError(f"scenario {one.scenario.id} is chosen from two files: {other} and {one.path}")
        chosen[one.scenario.id] = one
    if not chosen:
        searched = ", ".join(str(folder) for folder in settings.search)
        asked = f"no scenario is chosen by {' '.join(patterns)}" if patterns else "there is no scenario"
        raise NothingSelectedError(f"{asked}; searched: {searched}")
    return tuple(chosen[name] for name in sorted(chosen))
