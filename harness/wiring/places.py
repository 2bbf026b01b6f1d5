"""Where things lie on this machine: environment, folders, scenario files, reports."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

import harness
from harness import catalog, command, config, scenario
from harness.config import ProviderConfig
from harness.errors import CatalogError, EnvironmentProblem, RecordingError
from harness.ports import Reporter
from harness.schema.pair import BASE
from harness.schema.scenario import LoadedScenario
from harness.wiring.built_in import plane_operations
from harness.wiring.judges import CLASSIFIERS

__all__ = [
    "Settings",
    "imported_recording",
    "load_scenario",
    "load_variant",
    "own_file",
    "recorded_file",
    "reporters",
    "scenarios",
    "settings",
    "variants",
]

#: Overrides where installed control planes are kept.
HOME_VARIABLE = "HARNESS_HOME"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says. ``environ`` is never shown: it may hold keys.

    The time-outs of ``providers``, by name, go over those of ``harness.toml``.
    """

    cwd: Path
    home: Path
    search: tuple[Path, ...]
    environ: Mapping[str, str] = field(repr=False)
    providers: Mapping[str, ProviderConfig] = field(default_factory=dict)

    @property
    def config(self) -> Path:
        """The file of the working folder that tells how harness is set; it need not exist. Raises ConfigError."""
        return config.find(self.cwd)

    @property
    def reports(self) -> Path:
        """The folder that runs are written below, where no option says else. Raises ConfigError."""
        told = self.environ.get(config.variable(config.REPORTS))
        written = None if told else config.reports_of(self.config)
        return self.cwd / (told or ("reports" if written is None else str(written.value)))

    @property
    def search_path(self) -> str:
        """The PATH on which programs are found: whole paths only.

        An empty or relative entry means the folder that a command runs in, whose files an actor may have written.
        """
        given = self.environ.get("PATH", "").split(os.pathsep)
        return os.pathsep.join(filter(os.path.isabs, given)) or os.defpath


def settings(environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> Settings:
    """This process's environment and working folder unless others are given.

    HARNESS_HOME defaults to the platform's user data folder; scenarios are looked for in ``./scenarios``, then among
    the bundled ones.
    """
    environ = dict(os.environ) if environ is None else environ
    cwd = _working_folder() if cwd is None else cwd
    home = environ.get(HOME_VARIABLE) or platformdirs.user_data_dir("harness", appauthor=False)
    search = dict.fromkeys((cwd / "scenarios", _bundled()))
    return Settings(cwd=cwd, home=_home(home, cwd), search=tuple(search), environ=environ)


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise EnvironmentProblem(f"the working folder cannot be used: {error.strerror}; go to another one") from None


def _home(text: str, cwd: Path) -> Path:
    try:
        return cwd / Path(text).expanduser()
    except RuntimeError:
        raise EnvironmentProblem(
            f"the environment variable {HOME_VARIABLE} begins with the home of nobody here; give a whole path"
        ) from None


def _bundled() -> Path:
    """The scenarios of the installed distribution, or of the checkout that this code lies in."""
    package = Path(harness.__file__).resolve().parent
    inside = package / "_bundled" / "scenarios"
    return inside if inside.is_dir() else package.parent / "scenarios"


def scenarios(place: Settings) -> dict[str, Path]:
    """All scenarios on the search path, variants too, by id with their files; the first of an id wins."""
    return scenario.discover(place.search)


def load_scenario(place: Settings, id_or_path: str) -> LoadedScenario:
    """A scenario by id, or by the path of its ``.toml`` file. Raises CatalogError, ScenarioError."""
    variant = None
    if id_or_path.endswith(".toml"):
        path = place.cwd / id_or_path
    else:
        found = scenarios(place)
        if id_or_path not in found:
            raise CatalogError("scenario", id_or_path, tuple(sorted(found)))
        path = found[id_or_path]
        variant = scenario.variant_of(id_or_path, path)
    return _loaded(path, variant)


def own_file(place: Settings, loaded: LoadedScenario) -> str:
    """A scenario's file as a repository in the working folder calls it; empty where it is none of that repository."""
    path, here, bundled = Path(loaded.path).resolve(), place.cwd.resolve(), _bundled()
    # an environment with harness in it may lie in the repository too
    if not path.is_relative_to(here) or (path.is_relative_to(bundled) and bundled != here / "scenarios"):
        return ""
    return path.relative_to(here).as_posix()


def load_variant(loaded: LoadedScenario, name: str) -> LoadedScenario:
    """Another variant of a loaded scenario's file, by its name; ``base`` is the file itself. Raises ScenarioError."""
    return _loaded(Path(loaded.path), None if name == BASE else name)


def variants(path: Path) -> tuple[str, ...]:
    """The variants of a file by name."""
    return scenario.variants_in(path)


def _loaded(path: Path, variant: str | None) -> LoadedScenario:
    return scenario.load(
        path,
        grammars=command.GRAMMARS,
        operations=plane_operations,
        classifiers=CLASSIFIERS,
        variant=variant,
    )


def reporters() -> dict[str, Reporter]:
    """All reporters by name."""
    found: dict[str, Reporter] = {}
    for name in catalog.names("reporters"):
        found[name] = catalog.module("reporters", name).build()
    return found


def recorded_file(place: Settings, name: str) -> Path | None:
    """The recording that ``name`` means by its path; None where it is no file of recordings."""
    path = place.cwd / name
    return path if path.suffix == ".jsonl" and path.is_file() else None


def imported_recording(path: Path) -> RecordingError:
    """What is said where somebody wants to play a recording that was imported."""
    problem = "was imported and is of no scenario, so none can be played with it"
    return RecordingError(path, problem, advice=f"harness show {path} tells it")
