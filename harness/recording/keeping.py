"""A witness that keeps an episode: header, exchanges and plane answers, in the order they happened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from harness.errors import UsageError
from harness.recording.adopting import Leftover, is_whole, used
from harness.recording.files import RecordingWriter
from harness.recording.keys import answer_key
from harness.redaction import Scrubber
from harness.schema.base import Digest
from harness.schema.recording import Drift, Exchange, PlaneAnswer, Provenance, Recording, RecordingHeader
from harness.schema.rehearsal import SIMULATED_HEADER
from harness.schema.run import AttemptRow, EpisodeJob

__all__ = ["Keeper"]


class Keeper:
    """Writes one episode's recording as it happens; ``settle`` decides at the end whether it stays.

    ``writer`` opens the file for a header. Nothing is written for an episode that never asked its actor. Who answers
    may say that it is a simulation: then the recording says so too. ``provenance`` None leaves it to that, and means
    live where nothing is said. ``before`` looks for what an earlier driver of the same episode recorded of it, which is
    taken over.
    """

    def __init__(
        self,
        job: EpisodeJob,
        writer: Callable[[RecordingHeader], RecordingWriter],
        *,
        scrubber: Scrubber,
        provenance: Provenance | None,
        classifier_version: int,
        before: Callable[[], Leftover] | None = None,
    ) -> None:
        self._before = before
        self._scrubber = scrubber
        self._job, self._open, self._provenance = job, writer, provenance
        self._classifier_version = classifier_version
        self._header: RecordingHeader | None = None
        self._writer: RecordingWriter | None = None
        self._lock = Lock()
        self._count = 0

    def opened(self, prompt: Digest, tools: Digest) -> tuple[Drift, ...]:
        """Know what the header says."""
        scenario = self._job.loaded.scenario
        self._header = RecordingHeader(
            scenario=scenario.id,
            scenario_digest=self._job.loaded.digest,
            actor=self._job.actor.identity,
            plane=self._job.plane,
            trial=self._job.trial,
            prompt=prompt,
            tools=tools,
            volatile=scenario.call.volatile if scenario.call else (),
            provenance=self._provenance or "live",
            classifier_version=self._classifier_version,
            parts=self._job.loaded.parts or None,
        )
        leftover = None if self._before is None else self._before()
        if leftover is not None:
            if leftover.half is not None and leftover.fits(self._header):
                self._take_over(leftover.half, answers=False)
            leftover.remove()
        return ()

    def met(self, headers: Mapping[str, str]) -> None:
        """Look at the headers of an answer. Raises UsageError where a simulation answers what was said to be live."""
        if SIMULATED_HEADER not in headers:
            return
        if self._provenance == "live":
            raise UsageError(
                "a rehearsal server answers, which is no live model; leave --provenance out, or say simulated"
            )
        with self._lock:
            if self._header is not None:
                self._header = self._header.model_copy(update={"provenance": "simulated"})

    def exchanged(self, exchange: Exchange) -> None:
        """Keep one exchange. Raises StoreError, RedactionError."""
        self._count += 1
        self._add(exchange.model_copy(update={"number": self._count}))

    def answered(self, answer: PlaneAnswer) -> tuple[Drift, ...]:
        """Keep one answer of the control plane. Raises StoreError, RedactionError."""
        told = self._scrubber.json(answer.answer)
        key = answer_key(answer.kind, answer.exit_code, told)
        self._add(answer.model_copy(update={"answer": told, "key": key}))
        return ()

    def closed(self) -> tuple[Drift, ...]:
        """Nothing to compare."""
        return ()

    def settle(self, *, keep: bool, went_on: bool = False, attempts: Sequence[AttemptRow] = ()) -> bool:
        """Put the recording in its place, or drop it; False where it could not be kept though it was to be.

        So it is where its driver ``went_on`` with an interrupted episode and the answers of the ``attempts`` at a model
        call are not all there. Raises StoreError.
        """
        if self._header is None and self._before is not None:
            leftover = self._before()
            self._close_for_the_killed(leftover)
            went_on = not leftover.is_done
        writer, header = self._over()
        if not keep:
            if writer is not None:
                writer.discard()
            return True
        if not went_on:
            if writer is not None:
                writer.finish(header)
            return True
        exchanges = () if writer is None else used(writer.exchanges)
        whole = is_whole(exchanges, [row.status for row in attempts])
        if writer is not None and whole:
            writer.finish(header, exchanges)
        elif writer is not None:
            writer.discard()
        return whole

    def _close_for_the_killed(self, leftover: Leftover) -> None:
        """The episode was over when its driver was killed: all that was said is in what that recorded."""
        if leftover.half is not None:
            self._header = leftover.half.header
            self._take_over(leftover.half, answers=True)
        leftover.remove()

    def _take_over(self, half: Recording, *, answers: bool) -> None:
        """What the control plane answered is told again where the episode is played again from its start."""
        with self._lock:
            if self._header is None:  # pragma: no cover  (it was just set)
                return
            self._header = self._header.model_copy(update={"provenance": half.header.provenance})
            self._writer = self._open(self._header)
            entries: tuple[Exchange | PlaneAnswer, ...] = (*half.exchanges, *(half.answers if answers else ()))
            for entry in entries:
                self._writer.add(entry)
            self._count = len(half.exchanges)

    def abandon(self) -> None:
        """Leave what was kept so far as a partial file, which nobody takes for a recording."""
        writer, _ = self._over()
        if writer is not None:
            writer.close()

    def _over(self) -> tuple[RecordingWriter | None, RecordingHeader | None]:
        """What was written to until now; a reply that comes later than the end is not kept."""
        with self._lock:
            ended = self._writer, self._header
            self._writer = self._header = None
        return ended

    def _add(self, entry: Exchange | PlaneAnswer) -> None:
        with self._lock:
            if self._header is None:
                return
            if self._writer is None:
                self._writer = self._open(self._header)
            self._writer.add(entry)
