"""``harness qualify``: how often actors pass, and how sure that is."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import decision_told
from harness.cli.exit_codes import ExitCode
from harness.cli.judged_runs import beside, figures_of, read_whole, trials_by_actor
from harness.cli.judging import Judging, ended, judging_options
from harness.cli.options import format_option
from harness.cli.output import note, say, say_json
from harness.cli.power_plan import Power, power_options, tell_plan
from harness.cli.qualify_told import as_json, as_rows, as_text
from harness.cli.rates_told import letters_by_run
from harness.cli.spreadsheet import as_csv
from harness.collecting import READ_OBJECTS, rare_collections
from harness.errors import UsageError

__all__ = ["qualify"]

_EPILOG = """\b
Examples:
  harness qualify reports/RUN-ID
  harness qualify reports/RUN-ID --in-a-row 3
  harness qualify reports/RUN-ID reports/OTHER-RUN-ID --format json
  harness qualify reports/RUN-ID --power-plan --detect 0.05 --power 0.8
  harness qualify reports/RUN-ID --format csv > rates.csv
  harness qualify reports/RUN-ID --policy policy.toml
  harness qualify reports/RUN-ID --policy FILE --baseline reports/OLD-RUN-ID
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("runs", nargs=-1, type=click.Path(file_okay=False, path_type=Path), metavar="[RUN]...")
@click.option(
    "-k",
    "--in-a-row",
    "most",
    type=click.IntRange(1, 1000),
    metavar="K",
    help="Tell how often K trials all pass.  [default: as many as every scenario has, up to 5]",
)
@judging_options
@power_options
@format_option("What is printed; in jsonl and csv each actor and scenario is a line.", "text", "json", "jsonl", "csv")
@click.pass_context
@rare_collections(READ_OBJECTS)
def qualify(context: click.Context, *, runs: tuple[Path, ...], most: int | None, form: str) -> ExitCode:
    """Tell of run folders how often each actor passed, between what that lies, and whether it is enough to tell.

    With a policy each actor is decided about; else nothing is decided. Nobody is ranked. Several runs, and a
    baseline, stand side by side only where scenarios, their classifier, the control planes and the settings of models
    are the same.
    """
    power, judging = Power.of(context), Judging.of(context)
    if power is not None:
        if judging is not None:
            raise UsageError("--power-plan decides nothing; leave --policy out, or say --policy none")
        return tell_plan(power, runs, form)
    if not runs:
        raise UsageError("name a run folder, like reports/RUN-ID")
    whole = read_whole(runs)
    views = beside(whole)
    told = figures_of(views, trials_by_actor(views), most)
    decisions = () if judging is None else judging.decisions(whole)
    if form == "json":
        say_json(as_json(views, told, {} if judging is None else judging.as_json(decisions)), indent=2)
    elif form == "jsonl":
        for row in (*as_rows(told), *(() if judging is None else judging.as_rows(decisions))):
            say_json(row)
    elif form == "csv":
        decided = {(one.run, one.actor): decision_told.ANSWERS[one.answer] for one in decisions}
        say(as_csv(told, by_scenario=True, decided=decided).removesuffix("\n"))
        if judging is not None:
            note(judging.as_text(decisions, letters_by_run(views)))
    else:
        say(as_text(views, told))
        if judging is not None:
            say("\n" + judging.as_text(decisions, letters_by_run(views)))
    return ended({ExitCode.PASSED}, decisions)
