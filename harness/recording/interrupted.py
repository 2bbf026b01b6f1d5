"""What interrupted recordings left behind: never taken for a recording, never thrown away unasked."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.documents import DocumentError, open_file
from harness.errors import StoreError
from harness.recording.files import PARTIAL, partials
from harness.schema.counting import counted

__all__ = ["Half", "halves", "halves_below", "remove", "superfluous"]

_EXCHANGE: Final = b'"entry":{"line":"exchange",'


@dataclass(frozen=True, slots=True)
class Half:
    """A partial file: how many exchanges it holds, and whether somebody is writing it at this moment."""

    path: Path
    exchanges: int
    busy: bool

    def __str__(self) -> str:
        """What it is, in one line."""
        held = counted(self.exchanges, "exchange")
        state = "is being recorded at this moment" if self.busy else "recording was interrupted"
        return f"half a recording, {held}: {self.path}; {state}"


def halves(path: Path) -> tuple[Half, ...]:
    """What was left of attempts at the recording ``path``, by name. Raises StoreError."""
    return _read(one for one in partials(path.parent) if one.parent == path.parent and _belongs(one, path))


def halves_below(folder: Path) -> tuple[Half, ...]:
    """All of them below a folder, by name. Raises StoreError."""
    return _read(partials(folder))


def superfluous(found: Iterable[Half]) -> tuple[Half, ...]:
    """All but the fullest, of those that nobody writes."""
    idle = sorted((half for half in found if not half.busy), key=lambda half: half.exchanges)
    return tuple(idle[:-1])


def remove(found: Iterable[Half]) -> tuple[Half, ...]:
    """Remove those that nobody is writing; which were removed. Raises StoreError."""
    gone = []
    for half in found:
        try:
            descriptor = os.open(half.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unusable(half.path, error) from error
        try:
            if not _is_busy(descriptor):
                half.path.unlink(missing_ok=True)
                gone.append(half)
        except OSError as error:
            raise _unusable(half.path, error) from error
        finally:
            os.close(descriptor)
    return tuple(gone)


def _belongs(half: Path, path: Path) -> bool:
    """``NAME.partial`` and ``NAME.NUMBER.partial``."""
    rest = half.name.removeprefix(path.name).removesuffix(PARTIAL)
    return half.name.startswith(path.name) and (rest == "" or (rest[0] == "." and rest[1:].isdecimal()))


def _read(paths: Iterable[Path]) -> tuple[Half, ...]:
    found = []
    for path in paths:
        try:
            with open_file(path) as file:
                found.append(Half(path, sum(_EXCHANGE in line for line in file), _is_busy(file.fileno())))
        except DocumentError as error:
            if error.missing:
                continue  # it became whole meanwhile
            raise StoreError(f"{path}: {error.problem}") from error
        except OSError as error:
            raise _unusable(path, error) from error
    return tuple(found)


def _is_busy(descriptor: int) -> bool:
    """Whether its writer still holds the file. A file system without locks cannot tell: then nobody does."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _unusable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be used: {error.strerror or type(error).__name__}")
