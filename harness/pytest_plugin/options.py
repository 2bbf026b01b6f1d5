"""What the plugin is told: options of the command line and of pytest's configuration file."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import Final

import pytest

__all__ = ["actors", "actors_were_chosen", "add_options", "scenario_folders", "snapshot_folder", "trials", "updating"]

_DEFAULT_ACTORS: Final = ("recorded", "script")


def add_options(parser: pytest.Parser) -> None:
    """Declare them."""
    group = parser.getgroup("harness", "scenarios as tests")
    group.addoption(
        "--harness-actor",
        action="append",
        dest="harness_actor",
        metavar="ACTOR",
        help="who plays: recorded, recorded:ID, script, script:NAME or all-scripts; repeatable",
    )
    group.addoption(
        "--harness-trials",
        type=int,
        default=1,
        dest="harness_trials",
        metavar="N",
        help="how often each script is played; every time must leave the same receipt (default: 1)",
    )
    parser.addini("harness_actors", "who plays (default: recorded script)", type="args", default=[*_DEFAULT_ACTORS])
    parser.addini(
        "harness_scenarios",
        "folders of scenarios; every PACK/NAME.toml in them is a scenario (default: what looks like one in scenarios/)",
        type="paths",
        default=[],
    )
    parser.addini("harness_snapshots", "folder of snapshots (default: snapshots, beside the folder of scenarios)")


def actors(config: pytest.Config) -> tuple[str, ...]:
    """Who plays. Raises pytest.UsageError for an actor that cannot be a test."""
    chosen: list[str] = config.getoption("harness_actor") or config.getini("harness_actors")
    for actor in chosen:
        head, _, name = actor.partition(":")
        if actor not in {"recorded", "script", "all-scripts"} and not (head in {"script", "recorded"} and name):
            raise pytest.UsageError(
                f"harness: {actor!r} cannot play in a test; there are: recorded, recorded:ID, script, script:NAME, "
                "all-scripts"
            )
    return tuple(dict.fromkeys(chosen))


def actors_were_chosen(config: pytest.Config) -> bool:
    """Whether this run was told who plays, so that it may be less than all."""
    return bool(config.getoption("harness_actor"))


def trials(config: pytest.Config) -> int:
    """How often each script is played: once while snapshots are written, for a second time could not differ then.

    Raises pytest.UsageError for less than one.
    """
    count: int = config.getoption("harness_trials")
    if count < 1:
        raise pytest.UsageError(f"harness: --harness-trials is {count}; it must be 1 or more")
    return 1 if updating(config) else count


def updating(config: pytest.Config) -> bool:
    """Whether snapshots are written."""
    return bool(config.getoption("update_snapshots", default=False))


def scenario_folders(config: pytest.Config) -> tuple[Path, ...]:
    """Folders in which every file is a scenario."""
    folders: list[Path] = config.getini("harness_scenarios")
    return tuple(Path(os.path.normpath(folder)) for folder in folders)


def snapshot_folder(config: pytest.Config, root: Path) -> Path:
    """Where the snapshots of a folder of scenarios lie, as ``PACK/NAME/ACTOR.json``.

    Not in a folder that syrupy looks through for tests written in Python: it would take them for unused.
    """
    own = str(config.getini("harness_snapshots") or "")
    return config.rootpath / own if own else root.parent / "snapshots"
