"""What is kept of an episode that is not over: is it still what was written, only its owner's, and who is at it?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.clock import SystemClock
from harness.documents import DocumentError, read_file
from harness.episode.durable import JOURNAL, PLACE, SPOOL, STATES, kept_digest
from harness.journal import Leased, asked, intact, is_kept_as_named, journal_damage, kept_attempts, leased
from harness.receipt import Flaw
from harness.workspace import unreadable

__all__ = ["flaws_of", "is_begun", "told_of"]

#: No text of an episode is larger, in bytes.
_TEXT_MAX: Final = 1 << 30
_LEASE: Final = "lease.json"
_TOLD: Final[dict[Leased, str]] = {
    "driven": "another process plays the episode now",
    "gone": "the process that played the episode is gone; whoever goes on with the run takes it over",
    "silent": "the process that played the episode does not answer; whoever goes on with the run takes it over",
    "unreadable": "cannot be read, so nobody holds it",
}


def is_begun(place: Path) -> bool:
    """Whether anything was kept in the folder: its driver may have been killed as soon as it had it."""
    return any((place / name).exists() or (place / name).is_symlink() for name in (JOURNAL, SPOOL, STATES, PLACE))


def flaws_of(place: Path) -> Iterator[Flaw]:
    """What was changed in the folder of an episode, and what others may read there; files by their names in it."""
    yield from _open_to_others(place)
    damage = journal_damage(place / JOURNAL)
    if damage is not None and not damage.is_foreign:
        yield Flaw(JOURNAL, damage.problem)
    if damage is None and not kept_attempts(place / SPOOL) <= asked(one.payload for one in intact(place / JOURNAL)):
        yield Flaw(JOURNAL, "was cut: a model was asked more often than it tells")
    for path in sorted((place / SPOOL).glob("[!.]*")):
        name = f"{SPOOL}/{path.name}"
        try:
            if not is_kept_as_named(path.name, read_file(path, most=_TEXT_MAX)):
                yield Flaw(name, "is not what was kept under that name")
        except DocumentError as error:
            if not error.missing:
                yield Flaw(name, error.problem)
    for path in sorted((place / STATES).glob("[!.]*.tar")):
        try:
            problem = unreadable(path, kept_digest(path))
        except FileNotFoundError:
            continue  # the episode ended meanwhile
        if problem is not None:
            yield Flaw(f"{STATES}/{path.name}", problem)


def told_of(place: Path) -> Iterator[Flaw]:
    """What is as it was written, and good to know before somebody goes on with the episode."""
    damage = journal_damage(place / JOURNAL)
    if damage is not None and damage.is_foreign:
        yield Flaw(JOURNAL, damage.problem)
    held = leased(place, SystemClock().now())
    if held != "nobody":
        yield Flaw(_LEASE, _TOLD[held])


def _open_to_others(place: Path) -> Iterator[Flaw]:
    """The folder and all in it that somebody else than its owner may use, or that is neither file nor folder."""
    waiting = [(place, "")]
    while waiting:
        path, name = waiting.pop()
        try:
            mode = path.lstat().st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                yield Flaw(name or ".", "is no file and no folder")
                continue
            if stat.S_IMODE(mode) & 0o077:
                yield Flaw(name or ".", f"is open to others (mode {stat.S_IMODE(mode):04o}); close it: chmod go-rwx")
            if stat.S_ISDIR(mode):
                below = sorted(os.listdir(path), reverse=True)  # noqa: PTH208  (names)
                waiting += [(path / one, f"{name}/{one}".lstrip("/")) for one in below]
        except FileNotFoundError:
            continue  # the episode ended meanwhile
        except OSError as error:
            yield Flaw(name or ".", f"cannot be read: {error.strerror or type(error).__name__}")
