"""What a person decides about episodes of a run of which nobody knows what an operation came to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from harness.documents import DocumentError, read_file
from harness.errors import DecisionRefusedError, UsageError
from harness.receipt import read_run
from harness.schema.counting import counted
from harness.schema.record import Decision

__all__ = ["decide_option", "take_decisions"]

_LARGEST_BYTES = 16 * 1024 * 1024
_WORDS: dict[str, Decision] = {name: name for name in get_args(Decision)}
_ALLOWED = f"NUMBER=DECISION with one of {', '.join(_WORDS)}; replay_success:FILE for an answer of a control plane"

decide_option = click.option(
    "--decide",
    "decisions",
    multiple=True,
    metavar="NUMBER=DECISION",
    help="Beside --resume: what becomes of a call whose outcome is unknown, by its episode's number in the summary: "
    "defer, retry, replay_success[:FILE], record_failure or abort; repeatable.",
)


def take_decisions(run: Path | None, decisions: Sequence[str]) -> None:
    """Record each decision with its episode. Raises UsageError, and StoreError for what is no run."""
    from harness.wiring.waiting import decide_episode  # noqa: PLC0415  (it takes the loop, which no help waits for)

    if not decisions:
        return
    if run is None:
        raise UsageError("--decide goes beside --resume RUN: it decides about an episode of a run that waits")
    given = [_parsed(decision) for decision in decisions]
    receipts = read_run(run).receipts
    for number, word, file in given:
        if not 1 <= number <= len(receipts):
            raise UsageError(f"--decide {number}: {run} has {counted(len(receipts), 'episode')}")
        printed = None if file is None else _printed(number, file)
        try:
            decide_episode(run, receipts[number - 1].key, word, printed)
        except DecisionRefusedError as error:
            raise UsageError(f"--decide {number}: {error}") from None


def _parsed(text: str) -> tuple[int, Decision, Path | None]:
    number, _, decision = text.partition("=")
    word, colon, file = decision.partition(":")
    known = _WORDS.get(word)
    if known is None or not (number.isascii() and number.isdecimal()) or (colon and known != "replay_success"):
        raise UsageError(f"--decide: allowed: {_ALLOWED}")
    return int(number), known, Path(file) if colon else None


def _printed(number: int, file: Path) -> bytes:
    try:
        return read_file(file, most=_LARGEST_BYTES)
    except DocumentError as error:
        raise UsageError(f"--decide {number}: {file}: {error.problem}") from error
