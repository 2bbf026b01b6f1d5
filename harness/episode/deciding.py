"""What a person or a host decides about an episode that waits, for nobody knows what an operation of it came to.

A decision is in the journal before anybody acts on it, and the first one counts. Whoever drives the episode next does
what was decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from harness.episode.beside import opened_beside
from harness.episode.durable import DurablePlace
from harness.episode.encoding import kept_json
from harness.episode.execute import observed
from harness.episode.waiting import WAITS
from harness.errors import DecisionRefusedError, OpeningRefusedError, StorageError
from harness.journal import EpisodeState, Journal, Operation, Spool
from harness.ports import Clock
from harness.schema.process import Completed
from harness.schema.record import Decided, Decision

__all__ = ["decide", "deciding"]


def decide(place: DurablePlace, clock: Clock, decision: Decision, *, result: Completed | None = None) -> Decided:
    """Record a decision about the one operation that an episode waits for; returns what was recorded.

    A model call is known to have succeeded where its reply came in late: that is the result then. Of a tool's call
    ``result`` is what the control plane answered.

    Raises DecisionRefusedError where the episode does not wait for that, somebody has it or decided before, or no
    result is known.
    """
    with deciding(place, clock, decision, result=result) as record:
        return record()


@contextmanager
def deciding(
    place: DurablePlace, clock: Clock, decision: Decision, *, result: Completed | None = None
) -> Iterator[Callable[[], Decided]]:
    """Like ``decide``, in two steps: within the block the episode is held, and its argument records the decision.

    Raises DecisionRefusedError on entering, as ``decide`` does, with nothing written.
    """
    with ExitStack() as stack:
        with _refused():
            durable = stack.enter_context(opened_beside(place, clock))
            name, operation = _waited_for(durable.journal.settled)
            _undecided(durable.journal, name)
            data = _result(durable.spool, name, operation, result) if decision == "replay_success" else None

        def record() -> Decided:
            with _refused():
                kept = None if data is None else durable.spool.put(data)
                made = Decided(operation=name, digest=operation.digest, decision=decision, spool=kept)
                durable.journal.append_beside(made)
                return made

        yield record


@contextmanager
def _refused() -> Iterator[None]:
    """What keeps an episode from being opened or written keeps it from being decided about."""
    try:
        yield
    except OpeningRefusedError as error:
        if error.reason == "not_found":
            raise DecisionRefusedError("the episode does not wait for a decision") from error
        raise DecisionRefusedError(f"the episode cannot be decided about: {error}") from error
    except StorageError as error:
        raise DecisionRefusedError(f"the episode cannot be decided about: {error}") from error


def _waited_for(state: EpisodeState) -> tuple[str, Operation]:
    waiting = state.waiting
    unknown = [(name, one) for name, one in state.operations.items() if one.status in {"unknown", "not_sent"}]
    if waiting is not None and waiting.reason in WAITS:
        raise DecisionRefusedError("the episode waits for an answer, not for a decision")
    if waiting is None or waiting.reason != "reconciliation_required" or not unknown:
        raise DecisionRefusedError("the episode does not wait for a decision")
    return unknown[-1]


def _undecided(journal: Journal, name: str) -> None:
    before = journal.decision_on(name)
    if before is not None:
        raise DecisionRefusedError(f"it is decided already: {before.decision}; resume the run to have that done")


def _result(spool: Spool, name: str, operation: Operation, result: Completed | None) -> bytes | None:
    """The result of the operation as it is kept; None for a late reply, which is found by its attempt."""
    if operation.purpose != "tool":
        if result is not None or spool.reply(name, operation.attempt) is None:
            raise DecisionRefusedError("no reply to the model call came in; decide retry, record_failure or abort")
        return None
    if result is None:
        raise DecisionRefusedError("say what the control plane answered: replay_success:FILE")
    return kept_json({"state": "", "value": observed(result)})
