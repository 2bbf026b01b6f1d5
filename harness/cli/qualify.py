"""``harness qualify``: how often actors pass, and how sure that is."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.exit_codes import ExitCode
from harness.cli.judged_runs import figures_of, read_judged, trials_by_actor
from harness.cli.options import format_option
from harness.cli.output import say, say_json
from harness.cli.qualify_told import as_json, as_rows, as_text
from harness.cli.spreadsheet import as_csv
from harness.collecting import rare_collections

__all__ = ["qualify"]

_EPILOG = """\b
Examples:
  harness qualify reports/RUN-ID
  harness qualify reports/RUN-ID --in-a-row 3
  harness qualify reports/RUN-ID reports/OTHER-RUN-ID --format json
  harness qualify reports/RUN-ID --format csv > rates.csv
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("runs", nargs=-1, required=True, type=click.Path(file_okay=False, path_type=Path), metavar="RUN...")
@click.option(
    "-k",
    "--in-a-row",
    "most",
    type=click.IntRange(1, 1000),
    metavar="K",
    help="Tell how often K trials all pass.  [default: as many as every scenario has, up to 5]",
)
@format_option("What is printed; in jsonl and csv each actor and scenario is a line.", "text", "json", "jsonl", "csv")
@rare_collections()
def qualify(*, runs: tuple[Path, ...], most: int | None, form: str) -> ExitCode:
    """Tell of run folders how often each actor passed, between what that lies, and whether it is enough to tell.

    No decision is made, and nobody is ranked. Several runs stand side by side only where scenarios, their
    classifier, the control planes and the settings of models are the same.
    """
    views = read_judged(runs, by_version=True)
    told = figures_of(views, trials_by_actor(views), most)
    if form == "json":
        say_json(as_json(views, told), indent=2)
    elif form == "jsonl":
        for row in as_rows(told):
            say_json(row)
    elif form == "csv":
        say(as_csv(told, by_scenario=True).removesuffix("\n"))
    else:
        say(as_text(views, told))
    return ExitCode.PASSED
