"""What a person answers to episodes of a run that wait."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness.errors import UsageError

__all__ = ["answer_option", "is_name", "parse_answers"]

answer_option = click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="EPISODE=TEXT",
    help="Beside --resume: what an episode that waits for you is told, by its number in the summary or as "
    "SCENARIO#TRIAL@ACTOR; repeatable.",
)


def parse_answers(answers: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What episodes are called, each with what it is told. Raises UsageError."""
    return tuple(_parsed(answer) for answer in answers)


def is_name(who: str) -> bool:
    """Whether an episode can be called so: by its number, or as ``SCENARIO#TRIAL@ACTOR``."""
    _, _, place = who.partition("#")
    trial, at, _ = place.partition("@")
    return _is_number(who) or (bool(at) and _is_number(trial))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _parsed(answer: str) -> tuple[str, str]:
    who, equals, text = answer.partition("=")
    if not equals or not is_name(who):
        raise UsageError(
            "--answer: allowed: NUMBER=TEXT, with the episode's number in the summary of its run, or "
            "SCENARIO#TRIAL@ACTOR=TEXT"
        )
    return who, text
