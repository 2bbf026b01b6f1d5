"""Is a run folder still what was written: every digest is computed again, and what was changed is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from harness.documents import DocumentError, open_file, read_file
from harness.errors import StoreError
from harness.receipt.canonical import link
from harness.receipt.late import LATE
from harness.receipt.lines import LINE_MAX, read_lines
from harness.receipt.manifest_text import manifest_text, sealed
from harness.receipt.outputs import OUTPUTS, named
from harness.receipt.reading import MANIFEST_MAX, Part
from harness.receipt.resuming import SUPERSEDED
from harness.receipt.spending import SPENDING
from harness.receipt.store import LOG, MANIFEST, PART, RECEIPTS
from harness.schema.base import Frozen, digest_bytes
from harness.schema.counting import counted
from harness.schema.run import EpisodeResult, LateRow, Manifest, ReceiptLink
from harness.schema.spending import Entry

__all__ = ["Flaw", "Verification", "verify_run"]


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is not as it was written. ``line`` counts from 1; ``episode`` is as the plan names it."""

    file: str
    problem: str
    line: int | None = None
    episode: str | None = None

    @property
    def told(self) -> str:
        """One line."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        whose = "" if self.episode is None else f" ({self.episode})"
        return f"{where}: {self.problem}{whose}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What became of a run folder: ``finished`` of ``planned`` episodes, and what is wrong with them.

    ``torn`` are lines whose end a kill kept from being written: they never counted, so nothing is wrong with that.
    ``told`` is no flaw either, and good to know before somebody goes on with the run.
    """

    state: Literal["running", "complete", "interrupted", "unknown"]
    finished: int
    planned: int
    flaws: tuple[Flaw, ...]
    torn: tuple[Flaw, ...] = ()
    told: tuple[Flaw, ...] = ()


#: The files that are added to while a run goes on, and what each line of them is.
_ADDED_TO: tuple[tuple[str, type[Frozen]], ...] = (
    (LATE, LateRow),
    (SPENDING, Entry),
    (SUPERSEDED, EpisodeResult),
    (PART, Part),
)


def verify_run(folder: Path) -> Verification:
    """Hold everything in ``folder`` against its manifest, and that against its own seal.

    The seal is a digest and no signature: it tells what was changed, by accident or by hand, but not what somebody
    changed and sealed anew. Raises StoreError where there is no run, or one that cannot be read.
    """
    path = folder / MANIFEST
    if not path.exists():
        raise StoreError(f"{folder}: holds no run ({MANIFEST} is not there)")
    data = _read(path)
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError:
        return Verification("unknown", 0, 0, (Flaw(MANIFEST, "is not what harness wrote"),))
    beside, torn = _added_to(folder)
    planned = len(manifest.plan)
    if manifest.state == "running":
        finished = len(read_lines(folder / PART, Part)[0])
        return Verification("running", finished, planned, beside, torn)
    changed = tuple(_manifest(manifest, data))
    flaws = changed or (*_receipts(folder, manifest), *_log(folder, manifest))
    flaws = (*flaws, *beside, *_outputs(folder))
    return Verification(manifest.state, len(manifest.receipts), planned, flaws, torn)


def _added_to(folder: Path) -> tuple[tuple[Flaw, ...], tuple[Flaw, ...]]:
    """What is damaged in the files that lines are added to, and which of their last lines are torn."""
    flaws: list[Flaw] = []
    torn: list[Flaw] = []
    for name, kind in _ADDED_TO:
        try:
            _, damage = read_lines(folder / name, kind)
        except StoreError as error:
            flaws.append(Flaw(name, str(error).removeprefix(f"{folder / name}: ")))
            continue
        for one in damage:
            (torn if one.is_torn else flaws).append(Flaw(name, one.problem, one.line))
    return tuple(flaws), tuple(torn)


def _outputs(folder: Path) -> Iterator[Flaw]:
    """Kept texts that are not what their name says any more."""
    for path in sorted((folder / OUTPUTS).glob("[!.]*.txt")):
        try:
            if named(_read(path)) != path.name:
                yield Flaw(f"{OUTPUTS}/{path.name}", "was changed since it was kept")
        except StoreError as error:
            yield Flaw(f"{OUTPUTS}/{path.name}", str(error).removeprefix(f"{path}: "))


def _manifest(manifest: Manifest, data: bytes) -> Iterator[Flaw]:
    if manifest.seal is None:
        yield Flaw(MANIFEST, "has no seal")
    elif data != manifest_text(sealed(manifest)):
        yield Flaw(MANIFEST, "was changed after the run ended")
    previous: ReceiptLink | None = None
    for number, one in enumerate(manifest.receipts, start=1):
        previous = link(previous, one.key, one.digest)
        if previous != one:
            yield Flaw(MANIFEST, f"its chain breaks at receipt {number}")
            return


def _receipts(folder: Path, manifest: Manifest) -> Iterator[Flaw]:
    count = 0
    for count, data in _lines(folder / RECEIPTS):
        if count > len(manifest.receipts):
            yield Flaw(
                RECEIPTS, f"{MANIFEST} names {counted(len(manifest.receipts), 'receipt')}; this one is more", count
            )
        elif digest_bytes(data) != manifest.receipts[count - 1].digest:
            yield Flaw(RECEIPTS, "was changed after the run ended", count, _episode(manifest, count))
    for number in range(count + 1, len(manifest.receipts) + 1):
        yield Flaw(RECEIPTS, "is not there", number, _episode(manifest, number))


def _log(folder: Path, manifest: Manifest) -> Iterator[Flaw]:
    seen = sha256()
    try:
        with open_file(folder / LOG) as file:
            while data := file.read(1 << 20):
                seen.update(data)
    except DocumentError as error:
        yield Flaw(LOG, "is not there" if error.missing else error.problem)
        return
    except OSError as error:
        raise StoreError(f"{folder / LOG}: cannot be read: {error.strerror}") from error
    if manifest.log != f"sha256:{seen.hexdigest()}":
        yield Flaw(LOG, "was changed after the run ended")


def _episode(manifest: Manifest, number: int) -> str:
    """Whose receipt it is, as its key says."""
    scenario, _, actor, *_, trial, attempt = manifest.receipts[number - 1].key.split("|")
    named = next((one.ref for one in manifest.actors if one.digest == actor), "an actor that is not listed")
    again = "" if attempt == "1" else f", attempt {attempt}"
    return f"{scenario}, {named}, trial {trial}{again}"


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with open_file(path) as file:
            for number, data in enumerate(iter(lambda: file.readline(LINE_MAX), b""), start=1):
                yield number, data.removesuffix(b"\n") if data.endswith(b"\n") else data + b"\0"
    except DocumentError as error:
        if not error.missing:
            raise StoreError(f"{path}: {error.problem}") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error


def _read(path: Path) -> bytes:
    try:
        return read_file(path, most=MANIFEST_MAX)
    except DocumentError as error:
        raise StoreError(f"{path}: {error.problem}") from error
