"""``harness history flakes``: verdicts that turn from run to run though nothing was changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from harness.cli.exit_codes import ExitCode
from harness.cli.history_index import reports_option
from harness.cli.history_trend import chosen_runs
from harness.cli.options import format_option
from harness.cli.output import folded, harmless, say, say_json
from harness.cli.rates_told import NOTHING, between, told_table
from harness.config.quarantine_file import QUARANTINE
from harness.qualification.flakes import flakes
from harness.schema.base import JsonValue
from harness.schema.counting import counted, worded
from harness.schema.flakes import Flake

__all__ = ["tell_flakes"]

_EPILOG = """\b
Examples:
  harness history flakes
  harness history flakes 'loopx/*' --actor script --last 50
"""


@click.command("flakes", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("scenario", required=False, metavar="[SCENARIO|GLOB]")
@click.option("--actor", metavar="GLOB", help="Only of these.")
@click.option(
    "--last", "most", type=click.IntRange(2), default=30, show_default=True, help="So many runs, the newest ones."
)
@reports_option
@format_option("What is printed; jsonl is one scenario and actor a line.")
def tell_flakes(*, scenario: str | None, actor: str | None, most: int, reports: Path | None, form: str) -> ExitCode:
    """Tell how often verdicts turn from run to run though scenario, actor, model and plane are the same.

    Trials of one run that disagree are told too. Only whole runs count, and what was not judged says nothing.
    """
    chosen = chosen_runs(reports, scenario, actor, most)
    runs, found = chosen.runs, flakes(chosen.runs)
    if form == "json":
        rows = [_row(one) for one in found]
        say_json({"runs": len(runs), "flakes": rows, "ended_early": chosen.names_of_early}, indent=2)
    elif form == "jsonl":
        for one in found:
            say_json(_row(one))
    else:
        say("\n".join((*_told(found, len(runs)), *((chosen.told,) if chosen.ended_early else ()))))
    return ExitCode.PASSED


def _row(one: Flake) -> JsonValue:
    row: dict[str, JsonValue] = one.model_dump(mode="json")
    return {**row, "rate": one.rate}


def _told(found: Sequence[Flake], runs: int) -> Iterator[str]:
    turning = [one for one in found if one.flips or one.split]
    steady = len(found) - len(turning)
    if turning:
        head = ("turned", "between", "disagreed", "passed", "quarantine", "what")
        yield told_table(head, [_cells(one) for one in turning])
        yield ""
    what = counted(steady, "scenario and actor", "scenarios and actors")
    yield folded(f"{what} came out alike whenever played, in {counted(runs, 'run')}")
    worth = [one for one in turning if one.is_flaky and not one.set_aside]
    if worth:
        it, turn = worded(len(worth), "it", "them"), worded(len(worth), "turns", "turn")
        yield folded(
            f"{len(worth)} of these {turn} for no reason that is known: mend {it}, or put {it} into {QUARANTINE} "
            "with an owner and a last day"
        )


def _cells(one: Flake) -> tuple[str, ...]:
    worth = "there" if one.set_aside else "worth it" if one.is_flaky else "no"
    return (
        f"{one.flips}/{one.pairs}" if one.pairs else NOTHING,
        between(one.interval),
        f"{one.split}/{one.repeated}" if one.repeated else NOTHING,
        f"{one.passes}/{one.n}",
        worth,
        harmless(f"{one.scenario}, {one.actor} on {one.plane}"),
    )
