"""A person answers a durable episode that waits: the next driver gives the answer to the actor, and goes on."""

from __future__ import annotations

from dataclasses import replace

from harness.episode.durable import DurableEpisode, DurablePlace
from harness.episode.waiting import WAITS, answer_name
from harness.errors import OpeningRefusedError
from harness.ports import Clock
from harness.schema.control import CONTROL_TEXT_BYTES
from harness.schema.record import InputDelivered, Resumed

__all__ = ["give_answer"]


def give_answer(place: DurablePlace, clock: Clock, text: str) -> None:
    """Put the answer into the episode's journal; the time that it waited does not count against its deadline.

    The text is not blank and has at most ``CONTROL_TEXT_BYTES`` bytes. Raises ValueError for any other;
    OpeningRefusedError with ``not_found`` where there is no episode, with ``key_conflict`` where it does not wait (or
    was answered before: the first answer counts), and where another driver is at it or its journal cannot be read.
    """
    data = text.encode("utf-8", "surrogatepass")
    if not text.strip() or len(data) > CONTROL_TEXT_BYTES:
        raise ValueError(f"an answer has 1 to {CONTROL_TEXT_BYTES} bytes and is not blank")
    durable = DurableEpisode(replace(place, expects="begun"), clock)
    try:
        if durable.waiting is None or durable.waiting.reason not in WAITS:
            raise OpeningRefusedError("key_conflict", "it waits for no answer, or has one already")
        for record in durable.stored:
            durable.journal.append(record.payload)
        digest = durable.spool.put(data)
        durable.journal.append(Resumed(credited_s=durable.waited(clock.now())))
        name = answer_name(durable.journal.state.turn)
        durable.journal.append(InputDelivered(input=name, digest=digest))
    finally:
        durable.close()
