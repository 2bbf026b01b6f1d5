"""An environment in which git only reads: nothing that a repository names is run.

A repository's own configuration and attributes may name programs, and whoever writes in a workspace writes them too.
Configuration in the environment wins over it (git-config(1), ``GIT_CONFIG_COUNT``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["NAMES_OF_FILTERS", "git_environment", "kept_outside"]

#: Arguments of git that list the settings of filters, ended by NUL; nothing is run for that.
NAMES_OF_FILTERS = ("config", "--null", "--name-only", "--get-regexp", r"^filter\.")

_FIXED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    # Objects that are not there are not fetched, by whatever program a remote names.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "safe.bareRepository": "explicit",
}


def kept_outside(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The same command of git without a look into submodules, whose filters are not known here."""
    return (*argv, "--ignore-submodules=all") if argv[1:2] == ("status",) else argv


def git_environment(cwd: Path, filters: Iterable[str] = ()) -> dict[str, str]:
    """Variables for git in ``cwd``, which looks for a repository there and below only.

    ``filters`` are settings of filters (``filter.NAME.clean`` and so on): those are off. Git runs a filter at files
    whose times changed, and there is no one setting for all of them.
    """
    # in containers and on network file systems what this user made may belong to another
    settings = {**_SETTINGS, "safe.directory": str(cwd)}
    for name in filters:
        driver = name.rpartition(".")[0]
        settings |= {f"{driver}.{part}": "" for part in ("clean", "smudge", "process")} | {
            f"{driver}.required": "false"
        }
    told = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        told |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return {**_FIXED, **told, "GIT_CEILING_DIRECTORIES": str(cwd.parent)}
