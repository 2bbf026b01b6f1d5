"""Errors of tools: typed ones by their class (C17), and whatever a control plane raises as one of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.episode.hands import CallInHand
from harness.errors import ControlPlaneError, HarnessError
from harness.schema.outcome import Outcome
from harness.schema.tool import ResultCode

__all__ = ["UNCERTAIN", "ending_of", "error_code", "in_our_words"]

#: What the journal says of an operation whose tool itself cannot tell what it did.
UNCERTAIN = "uncertain"


@contextmanager
def in_our_words() -> Iterator[None]:
    """Around a call of a control plane: it raises HarnessError only, for what else a plane raises is nobody's answer.

    Its text may hold anything, so none of it is kept (runner specification case 119).
    """
    try:
        yield
    except HarnessError:
        raise
    except Exception:  # noqa: BLE001  (a plane may be anybody's code, in this process)
        raise ControlPlaneError("the control plane raised an error that it has no code for") from None


def error_code(hand: CallInHand) -> ResultCode | None:
    """The closed code of a typed error; None where the result is none."""
    if hand.error is None:
        return None
    codes: dict[str, ResultCode] = {
        "recoverable": "error_recoverable",
        "terminal": "error_terminal",
        "uncertain": "effect_uncertain",
    }
    return codes[hand.error.class_]


def ending_of(hand: CallInHand) -> Outcome | None:
    """How a typed error ends the episode: nothing can come after a terminal one, nobody knows after an uncertain one.

    ``detail`` names the tool, then the code of a terminal error.
    """
    error, tool = hand.error, hand.call.name
    if error is None or error.class_ == "recoverable":
        return None
    if error.class_ == "terminal":
        return Outcome(status="failed", reason="tool_error", detail=f"{tool}:{error.code}")
    return Outcome(status="failed", reason="tool_effect_uncertain", detail=tool)
