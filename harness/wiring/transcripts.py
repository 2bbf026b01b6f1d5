"""Recordings of a run's episodes, found and told."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness import recording
from harness.errors import RecordingError, StoreError
from harness.receipt import read_run
from harness.schema.receipt import Receipt
from harness.schema.run import RunView
from harness.schema.transcript import Transcript
from harness.schema.verdict import Verdict
from harness.transcript import transcript
from harness.wiring.decoding_recordings import reader_of
from harness.wiring.places import Settings
from harness.wiring.recordings import place_in_run, recording_folders, replayed_digest

__all__ = ["FILE_MAX", "TEXT_MAX", "TOTAL_MAX", "kept_recording", "transcript_of", "with_transcripts"]

#: A recording that is larger is not read for a report, in bytes.
FILE_MAX: Final = 32 * 1024 * 1024
#: Most of one text that a report is given, in bytes.
TEXT_MAX: Final = 20_000
#: Most of all texts together, in bytes: when that is reached, no further recording is read.
TOTAL_MAX: Final = 12_000_000

#: Whose recordings come first where not all fit.
_FIRST: tuple[Verdict, ...] = ("fail", "not_judged", "pending", "pass")


def kept_recording(
    place: Settings, folder: Path, receipt: Receipt, in_versions: frozenset[str] | None = None
) -> Path | None:
    """The recording of an episode: what the run kept of a live one, else what a recorded one was played from.

    None where there is none, or where another one lies in its place by now. ``in_versions`` is that of the manifest of
    the run, which is read where it is None and needed. Raises StoreError.
    """
    if receipt.actor.kind == "live":
        paths = [place_in_run(folder, receipt, in_versions)]
    elif receipt.actor.kind == "recorded":
        name = f"{receipt.actor.ref.partition(':')[2]}.jsonl"
        paths = [around / receipt.scenario / name for around in recording_folders(place)]
    else:
        paths = []
    return next((path for path in paths if path.is_file() and _belongs(path, receipt)), None)


def transcript_of(place: Settings, path: Path) -> Transcript:
    """A recording with all its texts whole, called by its path from the working folder. Raises RecordingError.

    Where it lies in a run folder, with the verdict that the run gave.
    """
    made = recording.load(path)
    told = transcript(made, _name(place, path), size=path.stat().st_size, read=reader_of(made.header))
    receipt = _judged(path.resolve())
    return (
        told
        if receipt is None
        else told.model_copy(update={"verdict": receipt.verdict, "failure_code": receipt.failure_code})
    )


def _name(place: Settings, path: Path) -> str:
    return str(path.relative_to(place.cwd) if path.is_relative_to(place.cwd) else path)


def _judged(path: Path) -> Receipt | None:
    """The receipt of a recording that a run kept: ``RUN/recordings/PACK/NAME/FILE``."""
    folder = next(iter(path.parents[3:4]), None)
    if folder is None or path.parents[2].name != "recordings":
        return None
    try:
        view = read_run(folder)
    except StoreError:
        return None
    several = view.manifest.in_versions
    own = (one for one in view.receipts if one.actor.kind == "live" and place_in_run(folder, one, several) == path)
    return next((one for one in own if _belongs(path, one)), None)


def with_transcripts(place: Settings, folder: Path, view: RunView) -> RunView:
    """The run in ``folder`` with what was recorded in it, and with the recordings that were played in it.

    Not much more than ``TOTAL_MAX`` bytes of texts are held; failed episodes come first. What is left out has a
    ``problem`` that says why.
    """
    found: dict[int, Transcript] = {}
    room = TOTAL_MAX
    several = view.manifest.in_versions
    numbered = enumerate(view.receipts, start=1)
    for number, receipt in sorted(numbered, key=lambda one: _FIRST.index(one[1].verdict)):
        path = kept_recording(place, folder, receipt, several)
        if path is None:
            if receipt.actor.kind == "recorded":
                found[number] = _gone(receipt)
            continue
        inside = path.is_relative_to(folder)
        name = path.relative_to(folder).as_posix() if inside else _name(place, path)
        told = _bounded(path, name, receipt, room)
        if told is not None:
            found[number] = told
            room -= sum(one.shown for turn in told.turns for one in (*turn.asked, *turn.said, *turn.answers))
    return view.model_copy(update={"transcripts": found}) if found else view


def _gone(receipt: Receipt) -> Transcript:
    """What is told of a recording that was played and does not lie where it did."""
    return Transcript(
        file=f"{receipt.actor.ref.partition(':')[2]}.jsonl",
        size=0,
        problem="the recording that was played is not found from here, or was replaced since",
    )


def _bounded(path: Path, name: str, receipt: Receipt, room: int) -> Transcript | None:
    size = path.stat().st_size
    if size > FILE_MAX:
        return Transcript(file=name, size=size, problem="too large to be shown here")
    if room <= 0:
        return Transcript(file=name, size=size, problem="not shown here: the page has no room left")
    try:
        made = recording.load(path)
    except RecordingError:
        return Transcript(file=name, size=size, problem="damaged: it cannot be read")
    # a replay may tell of another scenario than the one that was recorded: then it is stale, and still what was played
    same = receipt.actor.kind == "recorded" or made.header.scenario_digest == receipt.scenario_digest
    fits = same and made.header.trial == receipt.trial
    return transcript(made, name, size=size, text_bytes=TEXT_MAX, read=reader_of(made.header)) if fits else None


def _belongs(path: Path, receipt: Receipt) -> bool:
    """Whether a recording is of this actor; a damaged one is found, so that it is told."""
    try:
        header = recording.header_of(path)
    except RecordingError:
        return True
    digest = replayed_digest(header) if receipt.actor.kind == "recorded" else header.actor.digest
    return (digest, header.trial) == (receipt.actor.digest, receipt.trial)
