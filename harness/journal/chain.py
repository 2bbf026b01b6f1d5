"""Appending records to a digest chain, and checking one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.journal.fold import apply
from harness.journal.state import EpisodeState
from harness.schema.base import digest_text
from harness.schema.record import Payload, Record

__all__ = ["Journal", "verify"]

#: What stands before the first record.
START = "-"


def _digest(previous: str, payload: Payload) -> str:
    return digest_text(previous + "\n" + payload.model_dump_json())


class Journal:
    """Append-only. ``state`` is always the fold of ``records``; nothing else is remembered.

    ``observers`` are shown each record after it was appended; they cannot change a decision, and one that raises
    stops being asked (its failure is the observer's, never the episode's). ``dropped`` tells of those.
    """

    def __init__(self, observers: Sequence[Callable[[Record], None]] = ()) -> None:
        self._records: list[Record] = []
        self._state = EpisodeState()
        self._observers = list(observers)
        self._dropped: list[str] = []

    @property
    def records(self) -> tuple[Record, ...]:
        """All records so far, oldest first."""
        return tuple(self._records)

    @property
    def state(self) -> EpisodeState:
        """The fold of all records so far."""
        return self._state

    @property
    def dropped(self) -> tuple[str, ...]:
        """A line for each observer that raised: at which record, and what kind of error; nothing that it said."""
        return tuple(self._dropped)

    def append(self, payload: Payload) -> Record:
        """Add one record; returns it with its place in the chain."""
        previous = self._records[-1].digest if self._records else START
        record = Record(
            seq=len(self._records) + 1,
            payload=payload,
            previous=previous,
            digest=_digest(previous, payload),
        )
        self._records.append(record)
        self._state = apply(self._state, payload)
        for observer in tuple(self._observers):
            try:
                observer(record)
            except Exception as error:  # noqa: BLE001  (telemetry never decides: runner specification 2.16 no. 110)
                self._observers.remove(observer)
                self._dropped.append(
                    f"an observer was dropped at record {record.seq}: it raised {type(error).__name__}"
                )
        return record


def verify(records: Sequence[Record]) -> int | None:
    """The sequence number of the first record that breaks the chain, None where it is whole."""
    previous = START
    for seq, record in enumerate(records, 1):
        if record.seq != seq or record.previous != previous or record.digest != _digest(previous, record.payload):
            return seq
        previous = record.digest
    return None
