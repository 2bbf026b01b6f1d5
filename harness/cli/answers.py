"""What a person answers to episodes of a run that wait."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli.output import note
from harness.errors import OpeningRefusedError, UsageError
from harness.receipt import read_run
from harness.schema.counting import counted
from harness.schema.run import RunView

__all__ = ["answer_option", "give_answers", "tell_waiting"]

answer_option = click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="NUMBER=TEXT",
    help="Beside --resume: what an episode that waits for you is told, by its number in the summary; repeatable.",
)


def give_answers(run: Path | None, answers: Sequence[str]) -> None:
    """Put each answer into the episode that waits for it. Raises UsageError, and StoreError for what is no run."""
    from harness.wiring.waiting import answer_episode  # noqa: PLC0415  (it takes the loop, which no help waits for)

    if not answers:
        return
    if run is None:
        raise UsageError("--answer goes beside --resume RUN: it answers an episode of a run that waits")
    given = [_parsed(answer) for answer in answers]
    receipts = read_run(run).receipts
    for number, text in given:
        if not 1 <= number <= len(receipts):
            raise UsageError(f"--answer {number}: {run} has {counted(len(receipts), 'episode')}")
        try:
            answer_episode(run, receipts[number - 1].key, text)
        except ValueError as error:
            raise UsageError(f"--answer {number}: {error}") from None
        except OpeningRefusedError as error:
            raise UsageError(f"--answer {number}: the episode takes no answer: {error}") from None


def tell_waiting(view: RunView, folder: Path) -> None:
    """One line for each episode that waits for a person: which, and what to type."""
    for number, (receipt, log) in enumerate(zip(view.receipts, view.log, strict=True), 1):
        if log.resumable and receipt.outcome.reason in {"needs_user_input", "blocked"}:
            note(
                f"harness: episode {number} waits for a person ({receipt.outcome.detail}); answer with: "
                f"harness run --resume {shlex.quote(str(folder))} --answer {number}=TEXT --yes-spend"
            )


def _parsed(answer: str) -> tuple[int, str]:
    number, equals, text = answer.partition("=")
    if not equals or not (number.isascii() and number.isdecimal()):
        raise UsageError("--answer: allowed: NUMBER=TEXT, with the episode's number in the summary of its run")
    return int(number), text
