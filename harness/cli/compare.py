"""``harness compare``: models against each other."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.compare_details import as_details
from harness.cli.compare_told import as_json, as_rows, as_text
from harness.cli.early import looks_of
from harness.cli.exit_codes import ExitCode
from harness.cli.judged_runs import figures_of, read_judged, trials_by_actor
from harness.cli.options import NumberRange, format_option
from harness.cli.output import say, say_json
from harness.cli.spreadsheet import as_csv
from harness.collecting import READ_OBJECTS, rare_collections
from harness.errors import UsageError
from harness.qualification.comparing import ALPHA, MARGIN, compare
from harness.qualification.costing import cost_gaps

__all__ = ["command"]

_EPILOG = """\b
Examples:
  harness compare reports/RUN-ID
  harness compare reports/LAST-NIGHT reports/TONIGHT
  harness compare reports/RUN-ID --details
  harness compare reports/RUN-ID --early
  harness compare reports/RUN-ID --margin 3 --format json
  harness compare reports/RUN-ID --format csv > models.csv
"""


@click.command("compare", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("runs", nargs=-1, required=True, type=click.Path(file_okay=False, path_type=Path), metavar="RUN...")
@click.option(
    "--margin",
    type=NumberRange(0.1, 50),
    default=100 * MARGIN,
    show_default=True,
    metavar="POINTS",
    help="Rates that are no further apart than this are alike.",
)
@click.option("--early", is_flag=True, help="Tell after which trial of each scenario it was decided.")
@click.option("--details", is_flag=True, help="Tell tokens, times, failures and the models that answered, too.")
@format_option("What is printed; jsonl is one pair a line, csv one actor.", "text", "json", "jsonl", "csv")
@rare_collections(READ_OBJECTS)
def command(*, runs: tuple[Path, ...], margin: float, early: bool, details: bool, form: str) -> ExitCode:
    """Hold all actors of run folders against each other: who passes more often, or whether nobody can tell.

    Only where scenarios, their classifier, the control planes and the settings of models are the same.
    """
    views = read_judged(runs)
    trials = trials_by_actor(views)
    figures = figures_of(views, trials)
    if len(figures) < 2:  # noqa: PLR2004  (a pair)
        raise UsageError(f"{runs[0]}: only {figures[0].actor} played there; name another run, or run with two --actor")
    looked = looks_of(views)
    sides = [trials[one.run, one.actor] for one in figures]
    found = compare(
        figures,
        margin=margin / 100,
        trials=sides if early or looked is not None else None,
        alpha=ALPHA if looked is None else looked.alpha,
        planned=None if looked is None else looked.planned,
    )
    costs = cost_gaps(sides, alpha=found.alpha)
    if form == "json":
        say_json(as_json(figures, found, costs, looked=looked), indent=2)
    elif form == "jsonl":
        for row in as_rows(found, costs):
            say_json(row)
    elif form == "csv":
        say(as_csv(figures).removesuffix("\n"))
    else:
        say(as_text(views, figures, found, costs, looked=looked))
        if details:
            say("\n" + as_details(views, figures))
    return ExitCode.PASSED
