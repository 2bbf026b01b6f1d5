"""Going on with a run: what was asked for is read back from its folder, and only what is left of it is played."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field, ValidationError

from harness import wiring
from harness.cli.early import narrowed
from harness.cli.output import note
from harness.cli.remembering import Said
from harness.documents import DocumentError, make_folder, read_file
from harness.errors import StoreError, UsageError
from harness.receipt import Remainder, RunStore, read_manifest, remainder, set_aside, was_killed_at_once
from harness.redaction import SecretGuard
from harness.schema.base import Frozen
from harness.schema.counting import counted, of_all, worded, worded_of
from harness.schema.run import EpisodeJob, Manifest

__all__ = ["ASKED", "Asked", "Resumed", "asked_of", "keep", "kept", "resumed"]

ASKED = "asked.json"
#: Recordings of what was set aside.
ASIDE = "superseded"
#: Folders in that of a run.
_FOLDERS = ("episodes", "recordings", "outputs", "damaged", ASIDE)
_LARGEST_BYTES = 1_048_576


class Asked(Frozen):
    """The words of ``harness run`` that decide what is played. It names addresses, so only its owner may read it.

    ``said`` is what somebody typed of the options that hold for the run, by their names; ``retries`` counts where it
    does not tell them.
    """

    selection: tuple[str, ...]
    actors: tuple[str, ...]
    planes: tuple[str, ...] = ()
    sets: tuple[str, ...]
    trials: int
    shard: str | None = None
    early: bool = False
    retries: int | None = None
    said: dict[str, Said] = Field(default_factory=dict)

    @property
    def holds(self) -> dict[str, Said]:
        """All that was said of the run so far, by the names of options."""
        return {**({} if self.retries is None else {"retries": self.retries}), **self.said}


@dataclass(frozen=True, slots=True)
class Resumed:
    """A run that is gone on with: its manifest as it was, and what is left of the plan.

    ``abandoned`` are folders of unfinished episodes that none of the plan goes on with, for they play something else.
    """

    folder: Path
    manifest: Manifest
    left: Remainder = field(repr=False)
    total: int
    abandoned: tuple[Path, ...] = ()

    def tell(self) -> None:
        """Say on standard error what answers another question now, and how much is left."""
        anew = "what was played before is set aside, and it is played anew"
        now = anew if self.left.superseded else "it is played as it is now"
        for change in self.left.changed:
            note(f"harness: {change} since the run began: {now}")
        number = len(self.abandoned)
        if number:
            note(
                f"harness: {counted(number, 'unfinished episode')} of before {worded(number, 'is', 'are')} not gone on "
                f"with and set aside in {self.folder / ASIDE}; harness history purge removes "
                f"{worded(number, 'it', 'them')}"
            )
        note(f"harness: {_told(self.left, self.total, early=self.manifest.early is not None)}")

    def set_aside(self, settings: wiring.Settings, guard: SecretGuard) -> None:
        """Keep what answers another question now beside the run. Raises StoreError or RedactionError."""
        if self.abandoned:
            from harness.wiring.damaged import keep_abandoned  # noqa: PLC0415  (it takes the loop)

            keep_abandoned(self.folder, self.abandoned)
        if not self.left.superseded:
            return
        set_aside(self.folder, self.left.superseded, guard)
        for result in self.left.superseded:
            path = wiring.kept_recording(settings, self.folder, result.receipt)
            if path is not None and result.receipt.actor.kind == "live":
                _move(path, self.folder / ASIDE / result.receipt.scenario)

    def forget_finished(self) -> None:
        """Remove what a kill left of finished episodes; after ``keep_damaged``. Raises StoreError."""
        from harness.wiring.finished import forget_finished  # noqa: PLC0415  (it takes the loop, as below)

        forget_finished(self.folder, (*(result for _, result in self.left.finished), *self.left.superseded))

    def keep_damaged(self) -> None:
        """Keep the journals of what is played anew; after the run folder says that it is. Raises StoreError."""
        from harness.wiring.damaged import keep_damaged  # noqa: PLC0415  (it takes the loop, which no help waits for)

        for result in self.left.aside:
            kept = keep_damaged(self.folder, result.receipt)
            if kept is not None:
                note(f"harness: a journal that could not be gone on with is kept as {kept}")


def kept(asked: Asked | None) -> dict[str, bytes]:
    """The file beside a run that tells what was asked for; none where nothing was."""
    return {} if asked is None else {ASKED: (asked.model_dump_json(indent=2) + "\n").encode("utf-8")}


def keep(store: RunStore, asked: Asked) -> None:
    """Put what was asked for beside the run, over what was said of it before. Raises StoreError or RedactionError."""
    for name, data in kept(asked).items():
        store.keep_private(name, data)


def asked_of(folder: Path, given: Asked | None) -> Asked:
    """What the run in ``folder`` was asked for; ``given`` is what the command says besides (None: nothing).

    Raises UsageError where both are there and for a run that was merged, StoreError where the folder holds none.
    """
    if given is not None:
        raise UsageError(
            "--resume takes scenarios, actors, planes, trials and settings from the run; leave them out, or begin a "
            "new run for what is not in it"
        )
    if was_killed_at_once(folder, (ASKED,)):
        raise StoreError(
            f"{folder}: its run was killed before it began, so nothing was played; begin it again: harness run ... "
            f"--out {shlex.quote(str(folder))}"
        )
    manifest = read_manifest(folder)
    if manifest.merged:
        raise UsageError(
            f"{folder} is merged from {counted(len(manifest.merged), 'run')}: go on with one of those, and merge again"
        )
    _whole(folder)
    path = folder / ASKED
    try:
        return Asked.model_validate_json(read_file(path, most=_LARGEST_BYTES))
    except DocumentError as error:
        raise StoreError(
            f"{path}: {error.problem}; only a run that was begun by this version is gone on with"
        ) from error
    except ValidationError:
        raise StoreError(f"{path}: is not what harness wrote there") from None


def resumed(folder: Path, jobs: Sequence[EpisodeJob], *, retries: int, replay_damaged: bool) -> Resumed:
    """Hold what is finished against the plan. Raises StoreError.

    ``retries`` are the further attempts that the run makes where a provider fails; ``replay_damaged`` lets what cannot
    be gone on with be played anew.
    """
    manifest = read_manifest(folder)
    left = remainder(
        folder,
        jobs,
        classifier_version=wiring.judged_by,
        retries=retries,
        replay_damaged=replay_damaged,
    )
    left = narrowed(manifest, jobs, left)
    return Resumed(folder, manifest, left, len(jobs), _abandoned(folder, jobs, left))


def _abandoned(folder: Path, jobs: Sequence[EpisodeJob], left: Remainder) -> tuple[Path, ...]:
    if not (folder / "episodes").is_dir():
        return ()
    from harness.wiring.damaged import abandoned  # noqa: PLC0415  (it takes the loop, which no help waits for)

    attempts = [*(job.attempt for _, job in left.jobs), *(one.receipt.attempt for _, one in left.finished), 1]
    keys = (job.model_copy(update={"attempt": attempt}).key for job in jobs for attempt in range(1, max(attempts) + 1))
    return abandoned(folder, keys)


def _whole(folder: Path) -> None:
    """Raise StoreError where something else stands in the place of a folder that a run keeps things in."""
    for name in _FOLDERS:
        path = folder / name
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise StoreError(f"{path}: is no folder; put that right, and go on with the run then")


def _move(path: Path, into: Path) -> None:
    """A recording gives up its place to the one that is made now; earlier ones that did so stay."""
    try:
        make_folder(into, 0o700)
        number = next(number for number in itertools.count(1) if not (into / f"{number}-{path.name}").exists())
        path.rename(into / f"{number}-{path.name}")
    except OSError as error:
        raise StoreError(f"{into}: cannot be written: {error.strerror or type(error).__name__}") from error


def _told(left: Remainder, total: int, *, early: bool) -> str:
    """How much of a run is done, in one line."""
    finished = len({place for place, _ in left.finished})
    if not left.jobs and early and finished < total:
        return f"who is better is known after {of_all(finished, total, 'episode')}: nothing is left to play"
    if not left.jobs:
        every = worded(total, "the only episode is", f"all {total} episodes are")
        return f"{every} finished: nothing is left to play"
    again = f", {left.failed} of them again, for {worded(left.failed, 'its', 'their')} provider failed"
    done, now = total - len(left.jobs), len(left.jobs)
    return (
        f"{of_all(done, total, 'episode')} {worded_of(done, total, 'is', 'are')} finished; "
        f"{now} {worded(now, 'is', 'are')} played now{again if left.failed else ''}"
    )
