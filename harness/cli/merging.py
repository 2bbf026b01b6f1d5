"""``harness history merge``: the shards of a plan as the one run that they are."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import click

from harness import wiring
from harness.cli.conclusion import of_receipts
from harness.cli.exit_codes import ExitCode, gravest
from harness.cli.folder import summary
from harness.cli.output import colored, note, say, width
from harness.cli.reporting import write_reports
from harness.clock import SystemClock, new_run_id
from harness.errors import StoreError, UsageError
from harness.receipt import RunStore, carry_spending, merge, read_run, verify_run
from harness.wiring.indexing import note_run

__all__ = ["merge_runs"]

#: Folders of a run that are put together too: recordings of live episodes, and final texts too large for a line.
_FOLDERS = ("recordings", "outputs")


@click.command(
    "merge",
    epilog="\b\nExample:\n  harness history merge shards/1 shards/2 shards/3 --out nightly",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.argument("runs", nargs=-1, required=True, type=click.Path(file_okay=False, path_type=Path), metavar="RUN...")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the whole run: new or empty.",
)
def merge_runs(runs: tuple[Path, ...], out: Path) -> ExitCode:
    """Put the shards of one plan together, in any order; they stay as they are.

    Every episode of the plan must be there, and there once; what is missing or doubled is named. The receipts are
    those of a run that was never cut, and so is the exit code.
    """
    names = [str(run) for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is given twice")
    settings = wiring.settings()
    reports = settings.reports
    for run in runs:
        _refuse_changed(run)
    merged = merge({str(run): read_run(run) for run in runs}, run_id=new_run_id(SystemClock().now()))
    with RunStore(out, merged.manifest, wiring.secret_guard(settings, [])) as store:
        for place, result in merged.results:
            store.add(place, result)
        for name in _FOLDERS:
            _copy(name, runs, out)
        carry_spending(runs, out)
        store.finish(merged.finished_at)
        view = read_run(out)
        reporters = wiring.reporters().values()
        write_reports(store, reporters, view, reports)
    problem = note_run(out, reports, view)
    if problem is not None:
        note(f"harness: {problem}")
    written = [reporter.filename for reporter in reporters]
    say(summary(view, width=width(), color=colored(settings.environ), folder=out, written=written))
    return gravest(of_receipts(view, len(view.manifest.plan)))


def _refuse_changed(run: Path) -> None:
    flaw = next(iter(verify_run(run).flaws), None)
    if flaw is not None:
        raise StoreError(f"{run / flaw.told}; it was changed after it ended: harness verify {shlex.quote(str(run))}")


def _copy(name: str, runs: tuple[Path, ...], out: Path) -> None:
    """Recordings are called by scenario, actor, trial and attempt, texts by their digest: no two shards disagree."""
    try:
        for run in runs:
            if (run / name).is_dir():
                shutil.copytree(run / name, out / name, dirs_exist_ok=True)
                # whatever carried the shards here may have lost it
                (out / name).chmod(0o700)
    except OSError as error:
        raise StoreError(f"{out / name}: cannot be written: {error.strerror or type(error).__name__}") from error
