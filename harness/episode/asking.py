"""What an episode on disk asks the person whom it waits for, read without opening it."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from harness.control import read_claim
from harness.episode.durable import JOURNAL, SPOOL
from harness.episode.waiting import WAITS
from harness.journal import fold, intact, kept_reply
from harness.schema.control import CONTROL_NAMES, CONTROL_TEXT_BYTES, FinalizeClaim
from harness.schema.message import Reply

__all__ = ["question"]

#: The arguments of a control call are at most this long: its text with every character escaped, and its code.
_ARGUMENT_BYTES = 8 * CONTROL_TEXT_BYTES


def question(folder: Path) -> str | None:
    """The text with which the episode in ``folder`` began to wait for a person, as the model wrote it.

    None where it waits for nobody, or where that cannot be read.
    """
    state = fold(intact(folder / JOURNAL))
    operation = f"turn-{state.turn}/main"
    asked = state.operations.get(operation)
    if state.waiting is None or state.waiting.reason not in WAITS or asked is None:
        return None
    data = kept_reply(folder / SPOOL, operation, asked.attempt)
    try:
        reply = None if data is None else Reply.model_validate_json(data)
    except ValidationError:
        return None
    return None if reply is None else _said(reply)


def _said(reply: Reply) -> str | None:
    for call in reply.calls:
        name = next((name for name in CONTROL_NAMES if name == call.name), None)
        claim = None if name is None else read_claim(name, call, argument_bytes=_ARGUMENT_BYTES)
        if claim is not None and not isinstance(claim, FinalizeClaim):
            return claim.text
    return reply.text
