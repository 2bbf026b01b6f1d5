"""What a person answers to episodes of a run that wait."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli.output import note
from harness.errors import UsageError
from harness.schema.run import RunView

__all__ = ["answer_option", "parse_answers", "tell_waiting"]

answer_option = click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="NUMBER=TEXT",
    help="Beside --resume: what an episode that waits for you is told, by its number in the summary; repeatable.",
)


def parse_answers(answers: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Numbers of episodes, each with what it is told. Raises UsageError."""
    return tuple(_parsed(answer) for answer in answers)


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
