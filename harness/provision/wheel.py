"""Wheels as files: what one is, and how it is laid out in a directory of its own."""

from __future__ import annotations

import base64
import csv
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.parser import Parser
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from harness.errors import ProvisionError

__all__ = [
    "WheelFacts",
    "check",
    "file_sha256",
    "members",
    "place_of",
    "read_wheel",
    "record_hash",
    "recorded",
    "unpack",
]


#: Most files in a wheel, and most bytes of all of them.
FILES_MAX: Final = 20_000
UNPACKED_MAX: Final = 512 * 1024 * 1024

#: What reading a broken archive raises: bad structure, bad data, odd compression, passwords, text that is none.
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError),
    *(KeyError, ValueError, OverflowError, csv.Error, struct.error),
)


@dataclass(frozen=True, slots=True)
class WheelFacts:
    """What a wheel says of itself, and the hash of its file (hexadecimal)."""

    name: str
    version: str
    sha256: str
    dist_info: str


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal."""
    with path.open("rb") as file:
        digest = sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _refuse_other_files(path: Path) -> None:
    """A device may have no end, and a pipe nobody who writes."""
    if path.exists() and not path.is_file():
        raise ProvisionError(f"cannot read the wheel {path}: it is no regular file")


def _refuse_bombs(archive: zipfile.ZipFile, path: Path) -> None:
    """What the directory of the archive promises; the reader holds every member to it."""
    members = archive.infolist()
    if len(members) > FILES_MAX or sum(member.file_size for member in members) > UNPACKED_MAX:
        raise ProvisionError(f"{path.name} is too large; allowed: {FILES_MAX} files of {UNPACKED_MAX} bytes together")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What goes wrong with a file that is no whole archive, as one line."""
    try:
        yield
    except zipfile.BadZipFile:
        raise ProvisionError(f"{path.name} is not a wheel; give the .whl file of the control plane") from None
    except _BROKEN:
        raise ProvisionError(f"{path.name} is damaged: it cannot be unpacked; get it again") from None
    except OSError as error:
        raise ProvisionError(f"cannot read the wheel {path}: {error.strerror or error}") from None


def read_wheel(path: Path) -> WheelFacts:
    """Name and version from the wheel's own metadata. Raises ProvisionError for a file that is no usable wheel."""
    _refuse_other_files(path)
    with _readable(path), zipfile.ZipFile(path) as archive:
        _refuse_bombs(archive, path)
        names = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        if len(names) != 1:
            raise ProvisionError(f"{path.name} is not a wheel: it must hold one .dist-info/METADATA")
        meta = Parser().parsestr(archive.read(names[0]).decode("utf-8", "replace"))
    return WheelFacts(meta["Name"] or "", meta["Version"] or "", file_sha256(path), names[0].rpartition("/")[0])


def recorded(text: str) -> dict[str, str]:
    """The files of a RECORD with their hashes as ``sha256=...``; files without a hash are left out."""
    return {row[0]: row[1] for row in csv.reader(text.splitlines()) if len(row) > 1 and row[1]}


def record_hash(data: bytes) -> str:
    """A file's hash the way RECORD writes it: URL-safe base64 without padding."""
    return "sha256=" + base64.urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode("ascii")


def place_of(name: str | PurePosixPath, site: Path, prefix: Path) -> Path:
    """Where a file of a wheel lies once it is laid out: beside its package, or, of data to share, below ``prefix``."""
    parts = PurePosixPath(name).parts
    return prefix.joinpath(*parts[2:]) if _is_shared(parts) else site.joinpath(*parts)


def _is_shared(parts: tuple[str, ...]) -> bool:
    """Only what goes below ``share`` of the environment: nothing there is a program that somebody runs."""
    return parts[0].endswith(".data") and parts[1:3] == ("data", "share") and len(parts) > len(("", "data", "share"))


def unpack(path: Path, site: Path, prefix: Path | None = None) -> None:
    """Lay the wheel out below ``site``, its data to share below ``prefix`` (None: there too).

    Raises ProvisionError as ``check`` does.
    """
    for place, data in members(path):
        target = place_of(place, site, prefix or site)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise ProvisionError(f"{path.name} is damaged: it cannot be unpacked; get it again") from None


def check(path: Path) -> None:
    """Read the whole wheel, each file against RECORD.

    Raises ProvisionError where a file differs, is missing or not listed, would land elsewhere, or needs an
    installer's help.
    """
    for _ in members(path):
        pass


def members(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The files by their names. Each was checked when it comes; whether one is missing is known at the end."""
    facts = read_wheel(path)
    with _readable(path):
        archive = zipfile.ZipFile(path)
    with archive:
        if f"{facts.dist_info}/RECORD" not in archive.namelist():
            raise ProvisionError(f"{path.name} is not a wheel: it must hold {facts.dist_info}/RECORD")
        with _readable(path):
            record = recorded(archive.read(f"{facts.dist_info}/RECORD").decode("utf-8"))
        for member in archive.infolist():
            if member.is_dir():
                continue
            place = PurePosixPath(member.filename)
            if (
                not place.parts
                or "\0" in member.filename
                or place.is_absolute()
                or ".." in place.parts
                or (place.parts[0].endswith(".data") and not _is_shared(place.parts))
            ):
                raise ProvisionError(f"{path.name} cannot be laid out as plain files: {member.filename!r}")
            with _readable(path):
                data = archive.read(member)
            own = place.name == "RECORD" and place.parent.name == facts.dist_info
            if not own and record.pop(member.filename, None) != record_hash(data):
                raise ProvisionError(f"{path.name} is damaged: {member.filename!r} does not match its RECORD")
            yield place, data
    if record:
        raise ProvisionError(f"{path.name} is damaged: it lacks {min(record)!r}, which its RECORD lists")
