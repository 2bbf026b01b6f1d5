"""The grammars by name: what each admits, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

__all__ = ["FREE_GRAMMARS", "GRAMMARS", "PROFILES", "TEXT_BYTES", "Profile"]

#: Texts above this many UTF-8 bytes are read as nothing at all: an argument of a process has its own bound (128 KiB on
#: Linux), and reading must end in bounded time.
TEXT_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Profile:
    """What one grammar admits.

    ``preflight`` are commands admitted by their exact text only. ``home_spellings`` followed by ``/`` and
    ``home_folder`` name that folder of the root ``home_root``; other uses of them stay literal. A file outside the
    working root may be read in one form only: ``cat FILE | head``, and only where the scenario lists it as metadata.
    ``turn_variable`` is the one variable that ``export`` may set in a plan, ``export_chars`` bounds that word.
    ``harmless`` are substitutions (``$(pwd)``) that may stand in a value that is replaced anyway; clock questions may
    too. Assignments before a call are never applied, so those that would ``steer`` the program are refused.
    ``free``: what is no call is no bounded read either, but a text for a shell that is shut in.
    """

    name: str
    preflight: tuple[tuple[str, ...], ...]
    home_root: str
    home_folder: str
    home_spellings: tuple[str, ...]
    turn_variable: str
    harmless: tuple[str, ...]
    steer: re.Pattern[str]
    segments: int = 8
    list_paths: int = 4
    find_depth: int = 4
    pattern_bytes: int = 128
    export_chars: int = 160
    pipe_lines: int = 200
    free: bool = False


_LOOPX_0_4 = Profile(
    name="loopx-0.4",
    preflight=(
        ("git", "status", "--short", "--branch"),
        ("git", "branch", "--show-current"),
        ("git", "rev-parse", "--show-toplevel"),
    ),
    home_root="home",
    home_folder=".codex/loopx",
    home_spellings=("~", "$HOME", "${HOME}"),
    turn_variable="LOOPX_TURN",
    harmless=("pwd", "uuidgen"),
    steer=re.compile(
        r"(?!LOOPX_TURN\Z)(?:(?:LOOPX|CODEX|XDG|GIT|LD|DYLD)_.*|PYTHON.*|TMPDIR|HOME|PATH|IFS|ENV|BASH.*)", re.DOTALL
    ),
)

_SANDBOXED_SHELL = replace(_LOOPX_0_4, name="sandboxed-shell", free=True)

PROFILES: dict[str, Profile] = {profile.name: profile for profile in (_LOOPX_0_4, _SANDBOXED_SHELL)}

#: Names that a scenario's tool may give as its ``grammar``.
GRAMMARS: frozenset[str] = frozenset(PROFILES)
#: Those of them whose commands need a sandbox to run in.
FREE_GRAMMARS: frozenset[str] = frozenset(name for name, profile in PROFILES.items() if profile.free)
