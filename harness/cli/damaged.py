"""Episodes of a run that cannot be gone on with for what lies on disk of them: told, and played anew when asked."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from harness.cli.grouped import keep, kept
from harness.cli.output import note
from harness.errors import UsageError
from harness.receipt import is_damaged
from harness.schema.counting import counted
from harness.schema.money import MICRO, told_usd
from harness.schema.paid import paid
from harness.schema.receipt import Receipt
from harness.schema.run import RunLogEntry, RunView

__all__ = ["replay_damaged_option", "replays_damaged", "tell_damaged"]

replay_damaged_option = click.option(
    "--replay-damaged",
    is_flag=True,
    expose_value=False,
    callback=keep,
    help="Beside --resume: play episodes anew that cannot be gone on with, for their journal or what belongs to it is "
    "damaged; what they paid may be paid again, and is flagged.",
)


def replays_damaged(context: click.Context, run: Path | None) -> bool:
    """What the option says. Raises UsageError where it stands without a run that is gone on with."""
    replays = bool(kept(context, "replay_damaged"))
    if replays and run is None:
        raise UsageError("--replay-damaged goes beside --resume RUN: it is about episodes of an interrupted run")
    return replays


def tell_damaged(view: RunView, folder: Path) -> None:
    """One line for each of them: which, what is wrong with it, what is known to be spent, and what to type."""
    for number, (receipt, log) in enumerate(zip(view.receipts, view.log, strict=True), 1):
        if is_damaged(receipt, log):
            trial = "" if receipt.trial == 1 else f", trial {receipt.trial}"
            note(
                f"harness: episode {number} ({receipt.scenario}{trial}) cannot be gone on with: {log.problem}; "
                f"{_spent(log)}; {_remedy(receipt, folder)}, or play it anew and pay its calls again: "
                f"harness run --resume {shlex.quote(str(folder))} --replay-damaged --yes-spend"
            )


def _remedy(receipt: Receipt, folder: Path) -> str:
    """What lets it go on as it is."""
    if receipt.outcome.reason == "journal_version_unsupported":
        return (
            "go on with the version of harness that wrote it, give it up: "
            f"harness history purge {shlex.quote(str(folder))}"
        )
    return f"put it right in {folder / 'episodes'}"


def _spent(log: RunLogEntry) -> str:
    """What its calls cost, as far as anything tells."""
    own = paid([log])
    calls = f"{'>= ' if own.damaged else ''}{counted(own.calls, 'model call')}"
    cost = told_usd(own.micro_usd / MICRO, at_least=own.at_least) if own.is_known else "unknown"
    return f"spent on it: {cost}, {calls}"
