"""A person answers a durable episode that waits: the next driver gives the answer to the actor, and goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.episode.beside import opened_beside
from harness.episode.durable import DurablePlace
from harness.episode.waiting import WAITS, answer_name
from harness.errors import OpeningRefusedError
from harness.ports import Clock
from harness.schema.control import CONTROL_TEXT_BYTES
from harness.schema.record import InputDelivered

__all__ = ["answering", "give_answer"]


def give_answer(place: DurablePlace, clock: Clock, text: str) -> None:
    """Put the answer into the episode's journal; the time that it waited does not count against its deadline.

    The text is not blank and has at most ``CONTROL_TEXT_BYTES`` bytes. Raises ValueError for any other;
    OpeningRefusedError with ``not_found`` where there is no episode, with ``key_conflict`` where it does not wait (or
    was answered before: the first answer counts), and where another driver is at it or its journal cannot be read.
    """
    with answering(place, clock, text) as record:
        record()


@contextmanager
def answering(place: DurablePlace, clock: Clock, text: str) -> Iterator[Callable[[], None]]:
    """Like ``give_answer``, in two steps: within the block the episode is held, and its argument records the answer.

    Raises on entering what ``give_answer`` does, with nothing written.
    """
    data = text.encode("utf-8", "surrogatepass")
    if not text.strip() or len(data) > CONTROL_TEXT_BYTES:
        raise ValueError(f"an answer has 1 to {CONTROL_TEXT_BYTES} bytes and is not blank")
    with opened_beside(place, clock) as durable:
        waiting = durable.waiting
        if waiting is not None and waiting.reason == "reconciliation_required":
            raise OpeningRefusedError("key_conflict", "it waits for a decision, not for an answer")
        if waiting is None or waiting.reason not in WAITS:
            raise OpeningRefusedError("key_conflict", "it waits for no answer, or has one already")
        for stored in durable.stored:
            durable.journal.append(stored.payload)

        def record() -> None:
            digest = durable.spool.put(data)
            name = answer_name(durable.journal.state.turn)
            durable.journal.append(InputDelivered(input=name, digest=digest))

        yield record
