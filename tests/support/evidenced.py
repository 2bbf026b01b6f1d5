"""Evidence of an episode, in a line: kinds of calls, and what became of each."""

from __future__ import annotations

from harness.schema.base import JsonValue
from harness.schema.classifier import Became, CallEvidence, ChangeEvidence, Evidence, ReceivedCall
from harness.schema.outcome import Outcome
from harness.schema.tool import ResultCode

FINISHED = Outcome(status="completed", reason="final_response")

_MARKS: dict[str, tuple[Became, ResultCode]] = {
    "-": ("skipped", "skipped_due_to_stop"),
    "!": ("blocked", "denied_policy"),
    "?": ("failed", "error_recoverable"),
}


def evidence(
    kinds: str = "",
    *,
    document: dict[str, JsonValue] | None = None,
    changes: tuple[ChangeEvidence, ...] = (),
    received: tuple[ReceivedCall, ...] | None = None,
    files: dict[str, str] | None = None,
    text: str | None = None,
    packet: JsonValue = None,
) -> Evidence:
    """Calls by kind, one word each: ``ask`` executed, ``ask-`` skipped, ``ask!`` blocked, ``ask?`` failed.

    The tool of a call is called ``use_KIND``.
    """
    return Evidence(
        outcome=FINISHED,
        calls=tuple(_call(step, word) for step, word in enumerate(kinds.split(), 1)),
        document=document or {},
        changes=changes,
        received=received,
        text=text,
        file=(files or {}).get,
        packet=packet,
    )


def _call(step: int, word: str) -> CallEvidence:
    kind = word.rstrip("-!?")
    became, result = _MARKS.get(word[len(kind) :], ("executed", "succeeded"))
    return CallEvidence(step=step, turn=step, tool=f"use_{kind}", kind=kind, became=became, result=result)
