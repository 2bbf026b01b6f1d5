"""Appending records to a digest chain, and checking one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import takewhile

from harness.errors import HarnessError, OpeningRefusedError
from harness.journal.fold import apply
from harness.journal.state import EpisodeState
from harness.schema.base import digest_text
from harness.schema.outcome import Outcome
from harness.schema.record import (
    CallResulted,
    Closed,
    Decided,
    LateUsage,
    OpNotSent,
    OpUnknown,
    Payload,
    Record,
    Resumed,
    Suspended,
    TurnCommitted,
    payload_json,
)

__all__ = ["FROM_OUTSIDE", "Journal", "verify"]

#: What stands before the first record.
START = "-"
#: Kinds that come from outside of the loop: a resumed loop does not make them again, it passes over them.
FROM_OUTSIDE = (Resumed, Decided, LateUsage)
#: Kinds that stand between an operation of unknown outcome and what is decided about it: how the driver stopped there.
_OF_A_STOP = (*FROM_OUTSIDE, CallResulted, TurnCommitted, Suspended)
#: What may be decided about such an operation once and for all.
_FINAL = frozenset(("retry", "replay_success", "record_failure", "abort"))
#: How far an operation got that has neither ended nor never begun.
_UNFINISHED = frozenset({"started", "parked"})


def _digest(previous: str, payload: Payload) -> str:
    return digest_text(previous + "\n" + payload_json(payload))


class Journal:
    """Append-only. ``state`` is always the fold of ``records``; nothing else is remembered.

    Where nobody keeps or observes records, their chain is made when it is asked for.

    An episode that was interrupted is gone on with by running it again from its start with its ``stored`` records: as
    long as some are ahead, ``append`` takes the next of them instead of writing one, and refuses any other payload.
    What was done outside is not done again then, for ``ahead`` tells what came of it.

    ``credit_s`` are the seconds that it waited until this driver goes on with it, which do not count.

    ``keep`` puts a new record on disk before it counts; what it raises ends the episode. ``observers`` are shown each
    new record after it was appended; they cannot change a decision, and one that raises stops being asked (its failure
    is the observer's, never the episode's). ``dropped`` tells of those.
    """

    def __init__(
        self,
        observers: Sequence[Callable[[Record], None]] = (),
        *,
        stored: Sequence[Record] = (),
        keep: Callable[[Record], None] | None = None,
    ) -> None:
        self._payloads: list[Payload] = []
        self._records: list[Record] = []
        self._state = EpisodeState()
        self._observers = list(observers)
        self._dropped: list[str] = []
        self._stored = deque(stored)
        self._keep = keep
        self._is_resumed = bool(stored)
        self._took_last = False
        self.credit_s = 0.0

    @property
    def records(self) -> tuple[Record, ...]:
        """All records so far, oldest first."""
        self._chain()
        return tuple(self._records)

    @property
    def payloads(self) -> tuple[Payload, ...]:
        """What all records so far say, oldest first."""
        return tuple(self._payloads)

    def since(self, count: int) -> Sequence[Payload]:
        """What the records say that came after the first ``count`` of them."""
        return self._payloads[count:]

    @property
    def state(self) -> EpisodeState:
        """The fold of all records so far."""
        return self._state

    @property
    def settled(self) -> EpisodeState:
        """What all records add up to, those that are only stored included."""
        state = self._state
        for record in self._stored:
            state = apply(state, record.payload)
        return state

    @property
    def dropped(self) -> tuple[str, ...]:
        """A line for each observer that raised: at which record, and what kind of error; nothing that it said."""
        return tuple(self._dropped)

    @property
    def took_last(self) -> bool:
        """Whether the last record was a stored one: what it started may have been cut off by a kill."""
        return self._took_last

    @property
    def ahead(self) -> Payload | None:
        """What the next stored record says, None where nothing is stored any more."""
        if self._stored:
            self._pass_over(None)
        return self._stored[0].payload if self._stored else None

    def decided(self, operation: str) -> Decided | None:
        """What was decided about an operation whose outcome was just found unknown; None while it is not.

        How the driver stopped there is passed over then, up to the decision: the episode goes on from the operation.
        """
        stop = takewhile(lambda record: isinstance(record.payload, _OF_A_STOP), self._stored)
        found = next((record for record in stop if _decides(record.payload, operation)), None)
        while found is not None and self.records[-1] is not found:
            self._take_stored(self._stored.popleft())
            self._took_last = True
        return found.payload if found is not None and isinstance(found.payload, Decided) else None

    def decision_on(self, operation: str) -> Decided | None:
        """What was decided, once and for all, since the operation was last found unknown; None where nothing was."""
        decided: Decided | None = None
        for payload in (*self._payloads, *(record.payload for record in self._stored)):
            if isinstance(payload, OpUnknown | OpNotSent) and payload.operation == operation:
                decided = None
            elif isinstance(payload, Decided) and _decides(payload, operation):
                decided = payload
        return decided

    def append_beside(self, payload: Payload) -> None:
        """Add one record from outside of the loop, after all that are stored."""
        while self._stored:
            self._take_stored(self._stored.popleft())
        self._write(payload)

    def append(self, payload: Payload) -> None:
        """Add one record.

        Raises OpeningRefusedError (``journal_integrity_mismatch``) where the stored record says something else.
        """
        if self._stored:
            self._pass_over(payload)
        if self._stored:
            record = self._stored.popleft()
            if record.payload != payload:
                problem = f"record {record.seq} is not what the episode does now"
                raise OpeningRefusedError("journal_integrity_mismatch", problem)
            self._take_stored(record)
            self._took_last = True
            return
        if self._is_resumed:
            self._is_resumed = False
            self._write(Resumed(credited_s=self.credit_s))
        self._write(payload)

    def close(self, outcome: Outcome) -> Outcome:
        """The end, once: returns the outcome that counts, which is the first that was recorded.

        An operation that was started and did not end is unknown from then on; an episode that has one is not
        completed. Raises HarnessError where it is closed as completed all the same.
        """
        if self._state.outcome is not None:
            return self._state.outcome
        open_ones = [(n, one.attempt) for n, one in self._state.operations.items() if one.status in _UNFINISHED]
        if open_ones and outcome.status == "completed":
            raise HarnessError(f"operation {open_ones[0][0]} has not ended, so the episode is not completed")
        for operation, attempt in open_ones:
            self.append(OpUnknown(operation=operation, attempt=attempt, detail="abandoned"))
        self.append(Closed(outcome=outcome))
        return outcome

    def suspend(self, outcome: Outcome) -> None:
        """It waits; recorded once, however often it is opened while it does."""
        if self.ahead is not None or self._state.waiting != outcome:
            self.append(Suspended(outcome=outcome))

    def _write(self, payload: Payload) -> None:
        if self._keep is not None or self._observers:
            self._keep_and_show(payload)
        else:
            self._payloads.append(payload)
            self._state = apply(self._state, payload)
        self._took_last = False

    def _keep_and_show(self, payload: Payload) -> None:
        self._chain()
        record = self._following(payload)
        if self._keep is not None:
            self._keep(record)
        self._records.append(record)
        self._take(payload)
        self._show(record)

    def _chain(self) -> None:
        """Make the records that nobody needed so far."""
        for payload in self._payloads[len(self._records) :]:
            self._records.append(self._following(payload))

    def _following(self, payload: Payload) -> Record:
        """The record of ``payload`` behind those that were made so far."""
        previous = self._records[-1].digest if self._records else START
        return Record(seq=len(self._records) + 1, payload=payload, previous=previous, digest=_digest(previous, payload))

    def _pass_over(self, payload: Payload | None) -> None:
        while self._stored and isinstance(self._stored[0].payload, FROM_OUTSIDE):
            if self._stored[0].payload == payload:
                return
            self._take_stored(self._stored.popleft())

    def _take_stored(self, record: Record) -> None:
        self._records.append(record)
        self._take(record.payload)

    def _take(self, payload: Payload) -> None:
        self._payloads.append(payload)
        self._state = apply(self._state, payload)

    def _show(self, record: Record) -> None:
        for observer in tuple(self._observers):
            try:
                observer(record)
            except Exception as error:  # noqa: BLE001  (telemetry never decides: runner specification 2.16 no. 110)
                self._observers.remove(observer)
                self._dropped.append(
                    f"an observer was dropped at record {record.seq}: it raised {type(error).__name__}"
                )


def _decides(payload: Payload, operation: str) -> bool:
    return isinstance(payload, Decided) and payload.operation == operation and payload.decision in _FINAL


def verify(records: Sequence[Record]) -> int | None:
    """The sequence number of the first record that breaks the chain, None where it is whole."""
    previous = START
    for seq, record in enumerate(records, 1):
        if record.seq != seq or record.previous != previous or record.digest != _digest(previous, record.payload):
            return seq
        previous = record.digest
    return None
