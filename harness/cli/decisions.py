"""What a person decides about episodes of a run of which nobody knows what an operation came to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from harness.cli.answers import is_name
from harness.documents import DocumentError, read_file
from harness.errors import UsageError
from harness.schema.record import Decision

__all__ = ["EVERYBODY", "decide_option", "parse_decisions"]

#: Stands for all episodes of a run that wait for a decision.
EVERYBODY = "all"
_LARGEST_BYTES = 16 * 1024 * 1024
_WORDS: dict[str, Decision] = {name: name for name in get_args(Decision)}
_ALLOWED = (
    f"NUMBER=DECISION, SCENARIO#TRIAL@ACTOR=DECISION or {EVERYBODY}=DECISION with one of {', '.join(_WORDS)}; "
    "replay_success:FILE for an answer of a control plane"
)

decide_option = click.option(
    "--decide",
    "decisions",
    multiple=True,
    metavar="EPISODE=DECISION",
    help="Beside --resume: what becomes of a call whose outcome is unknown, by its episode's number in the summary, as "
    "SCENARIO#TRIAL@ACTOR, or for all: defer, retry, replay_success[:FILE], record_failure or abort; repeatable.",
)


def parse_decisions(decisions: Sequence[str]) -> tuple[tuple[str, Decision, bytes | None], ...]:
    """What episodes are called, each with a decision, and with what the control plane printed where a file tells it.

    Raises UsageError, also for a file that cannot be read.
    """
    given = [_parsed(decision) for decision in decisions]
    return tuple((who, word, None if file is None else _printed(who, file)) for who, word, file in given)


def _parsed(text: str) -> tuple[str, Decision, Path | None]:
    who, _, decision = text.partition("=")
    word, colon, file = decision.partition(":")
    known = _WORDS.get(word)
    if known is None or not (who == EVERYBODY or is_name(who)) or (colon and known != "replay_success"):
        raise UsageError(f"--decide: allowed: {_ALLOWED}")
    return who, known, Path(file) if colon else None


def _printed(who: str, file: Path) -> bytes:
    try:
        return read_file(file, most=_LARGEST_BYTES)
    except DocumentError as error:
        raise UsageError(f"--decide {who}: {file}: {error.problem}") from error
