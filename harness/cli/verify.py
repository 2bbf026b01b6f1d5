"""``harness verify``: is a run still what was written?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from harness.cli.exit_codes import ExitCode, gravest
from harness.cli.options import format_option
from harness.cli.output import say, say_json
from harness.receipt import Verification, is_written, verify_run
from harness.schema.base import JsonValue
from harness.schema.counting import counted

__all__ = ["verify"]

_EPILOG = """\b
Examples:
  harness verify reports/RUN-ID
  harness verify reports/* --format jsonl
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("runs", nargs=-1, required=True, type=click.Path(file_okay=False, path_type=Path), metavar="RUN...")
@format_option("What is printed; jsonl is one run a line.")
def verify(*, runs: tuple[Path, ...], form: str) -> ExitCode:
    """Compute every digest of run folders again, and name what was changed since they were written.

    Ends with 1 where something was changed, and with 2 where a run is whole as far as it goes but did not end.
    """
    found = {run: _verified(run) for run in runs}
    rows: list[JsonValue] = [_row(run, one) for run, one in found.items()]
    if form == "json":
        say_json({"runs": rows}, indent=2)
    elif form == "jsonl":
        for row in rows:
            say_json(row)
    else:
        for run, one in found.items():
            beside = (f"  {flaw.told}" for flaw in (*one.flaws, *one.torn, *one.told))
            say("\n".join((f"{run}: {_sentence(run, one)}", *beside)))
    return gravest(map(_code, found.values()))


def _verified(run: Path) -> Verification:
    """The run with what is kept beside its receipts."""
    from harness.wiring.kept_beside import (  # noqa: PLC0415  (it takes the loop, which no help waits for)
        flaws_beside,
        told_beside,
    )

    found = verify_run(run)
    return replace(found, flaws=(*found.flaws, *flaws_beside(run)), told=tuple(told_beside(run)))


def _code(one: Verification) -> ExitCode:
    if one.flaws:
        return ExitCode.FAILED
    return ExitCode.PASSED if one.state == "complete" else ExitCode.NOT_JUDGED


def _sentence(run: Path, one: Verification) -> str:
    if one.flaws:
        return "was changed"
    receipts = f"{counted(one.finished, 'receipt')} of {counted(one.planned, 'episode')}"
    if one.state == "complete":
        return f"is as it was written, {receipts}"
    how = "was interrupted" if one.state != "running" else "goes on" if is_written(run) else "was killed"
    return f"{how}, {receipts}; what is there is whole"


def _row(run: Path, one: Verification) -> JsonValue:
    flaws: list[JsonValue] = [
        {"file": flaw.file, "line": flaw.line, "problem": flaw.problem, "episode": flaw.episode} for flaw in one.flaws
    ]
    torn: list[JsonValue] = [{"file": line.file, "line": line.line} for line in one.torn]
    known: list[JsonValue] = [{"file": told.file, "problem": told.problem} for told in one.told]
    row: JsonValue = {
        "run": str(run),
        "state": one.state,
        "finished": one.finished,
        "planned": one.planned,
        "flaws": flaws,
        "torn": torn,
        "told": known,
    }
    return row
