"""Which scenarios a command line means: ids, globs, tags and files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from harness import scenario, wiring
from harness.errors import InputError, NothingSelectedError, UsageError
from harness.schema.scenario import LoadedScenario

__all__ = ["choose", "choose_all"]

_FILE = ".toml"


def choose(settings: wiring.Settings, patterns: Sequence[str]) -> tuple[LoadedScenario, ...]:
    """The scenarios that the patterns choose, by id; all on the search path where there is no pattern.

    Only files that are chosen are read, so a broken one harms nobody who did not ask for it. Raises
    NothingSelectedError for an empty choice, CatalogError for an unknown id, ScenarioError for a broken file.
    """
    chosen, broken = choose_all(settings, patterns)
    if broken:
        raise broken[0]
    return chosen


def choose_all(
    settings: wiring.Settings, patterns: Sequence[str]
) -> tuple[tuple[LoadedScenario, ...], tuple[InputError, ...]]:
    """Like ``choose``, with the errors of broken files beside the scenarios that can be read, each once, in order."""
    files = [pattern for pattern in patterns if pattern.endswith(_FILE)]
    others = [pattern for pattern in patterns if not pattern.endswith(_FILE)]
    broken: dict[str, InputError] = {}

    @cache
    def loaded(name: str) -> LoadedScenario | None:
        try:
            return wiring.load_scenario(settings, name)
        except InputError as error:
            broken[name] = error
            return None

    def tags(name: str) -> tuple[str, ...]:
        one = loaded(name)
        return () if one is None else one.scenario.tags

    names = scenario.select(wiring.scenarios(settings), others, tags=tags) if others or not files else ()
    chosen: dict[str, LoadedScenario] = {}
    for name in (*names, *dict.fromkeys(files)):
        one = loaded(name)
        if one is None:
            continue
        if one.scenario.id in chosen:
            other = chosen[one.scenario.id].path
            raise UsageError(f"scenario {one.scenario.id} is chosen from two files: {other} and {one.path}")
        chosen[one.scenario.id] = one
    if not chosen and not broken:
        searched = ", ".join(str(folder) for folder in settings.search)
        asked = f"no scenario is chosen by {' '.join(patterns)}" if patterns else "there is no scenario"
        raise NothingSelectedError(f"{asked}; searched: {searched}")
    return tuple(chosen[name] for name in sorted(chosen)), tuple(broken.values())
