"""Episodes of a run that wait for a person: what they ask, or what is to be decided, and what to type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness import wiring
from harness.cli.going_on import is_undecided, steady
from harness.cli.output import note
from harness.receipt import go_on
from harness.schema.counting import counted
from harness.schema.run import RunView

__all__ = ["DECISIONS", "question_of", "tell_waiting", "to_do"]

_ANSWERED: Final = frozenset({"needs_user_input", "blocked"})
#: Most of a question that one line holds, and that is shown of it at all, in characters.
_SHORT: Final = 300
_LONG: Final = 8_192
#: So many episodes are named in a line.
_NAMED: Final = 10

DECISIONS: Final = (
    "retry (the call is made again, and may be paid twice), replay_success (a reply that came late is taken; of a "
    "control plane say replay_success:FILE), record_failure (it counts as failed), abort (the episode is given up), "
    "defer (it waits on)"
)


def question_of(settings: wiring.Settings, view: RunView, folder: Path, number: int) -> str | None:
    """What the ``number``-th episode, from 1, asks, without secrets and of bounded length; None where it asks nothing.

    Raises ConfigError where it cannot be told which texts are secrets.
    """
    receipt, log = view.receipts[number - 1], view.log[number - 1]
    if not log.resumable or receipt.outcome.reason not in _ANSWERED:
        return None
    from harness.wiring.waiting import asked_in  # noqa: PLC0415  (it takes the loop, which no help waits for)

    text = asked_in(folder, receipt.key)
    return None if text is None else _cut(wiring.known_scrubber(settings).text(text), _LONG)


def to_do(view: RunView, folder: Path, number: int) -> tuple[str, ...]:
    """What to type about the ``number``-th episode, from 1, and what that means; nothing where it does not wait."""
    receipt, log = view.receipts[number - 1], view.log[number - 1]
    who = steady(view, number)
    if log.resumable and receipt.outcome.reason in _ANSWERED:
        return (go_on(folder, view.manifest, "--answer", f"{who}=TEXT"),)
    if is_undecided(view, number):
        return (go_on(folder, view.manifest, "--decide", f"{who}=retry"), f"decisions: {DECISIONS}")
    return ()


def tell_waiting(settings: wiring.Settings, view: RunView, folder: Path) -> None:
    """One line for each episode that waits for an answer; those that wait for a decision are told together."""
    for number, (receipt, log) in enumerate(zip(view.receipts, view.log, strict=True), 1):
        if log.resumable and receipt.outcome.reason in _ANSWERED:
            asks = question_of(settings, view, folder, number)
            told = "" if asks is None else f': "{_cut(" ".join(asks.split()), _SHORT)}"'
            note(
                f"harness: episode {number} waits for a person ({receipt.outcome.detail}){told}; answer with: "
                f"{to_do(view, folder, number)[0]}"
            )
    undecided = [number for number in range(1, len(view.receipts) + 1) if is_undecided(view, number)]
    if undecided:
        _tell_undecided(view, folder, undecided)


def _tell_undecided(view: RunView, folder: Path, numbers: Sequence[int]) -> None:
    first = steady(view, numbers[0])
    named = ", ".join(map(str, numbers[:_NAMED]))
    more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
    who = f"episode {named} waits" if len(numbers) == 1 else f"{counted(len(numbers), 'episode')} ({named}{more}) wait"
    word = f"{first}=retry" if len(numbers) == 1 else "all=retry"
    note(
        f"harness: {who} for a decision, for nobody knows what came of a call; decide with: "
        f"{go_on(folder, view.manifest, '--decide', word)}"
    )
    one = "" if len(numbers) == 1 else f"; for one of them: --decide {first}=DECISION"
    note(f"harness: decisions are {DECISIONS}{one}")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
