"""``harness report``: render the reports of a run folder again."""

from __future__ import annotations

from pathlib import Path

import click

from harness import wiring
from harness.cli.conclusion import tell_left_out
from harness.cli.decision_told import as_text
from harness.cli.exit_codes import ExitCode
from harness.cli.folder import as_json, chosen_reporters, keep_to_owner, summary
from harness.cli.judging import Judging, judging_options
from harness.cli.options import format_option
from harness.cli.output import colored, folded, say, say_json, width
from harness.cli.reporting import files_of
from harness.collecting import READ_OBJECTS, rare_collections
from harness.errors import StoreError, UsageError
from harness.ports import Reporter
from harness.qualification.not_needed import told_early
from harness.receipt import is_written, read_run, read_told
from harness.schema.base import JsonValue
from harness.schema.run import RunView
from harness.wiring.trending import with_trends

__all__ = ["report"]

_EPILOG = """\b
Examples:
  harness report reports/20260101T000000Z-0a1b
  harness report reports/20260101T000000Z-0a1b --report html --out page.html
  harness report reports/20260101T000000Z-0a1b --report html --transcripts
  harness report reports/20260101T000000Z-0a1b --policy policy.toml
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--report", "names", multiple=True, metavar="NAME", help="Reports to write.  [default: all]")
@click.option("--transcripts", is_flag=True, help="Put kept conversations into the page; then only you may read it.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the one report there; - for standard output."
)
@judging_options
@format_option("How the run is told; json holds its receipts and what it cost.", "text", "json")
@click.pass_context
@rare_collections(READ_OBJECTS)
def report(
    context: click.Context, *, folder: Path, names: tuple[str, ...], transcripts: bool, out: Path | None, form: str
) -> ExitCode:
    """Render reports from the receipts in the folder RUN, into it; prints the summary of the run.

    With a policy they tell first what it decides about each actor. The exit code says only whether the reports were
    written; the verdicts are those of the run.
    """
    settings, judging = wiring.settings(), Judging.of(context)
    reporters = chosen_reporters(wiring.reporters(), names)
    if out is not None and form == "json":
        raise UsageError("--out writes one report, and --format json tells a whole run; leave one of them out")
    # what a machine reads, and what is told beside conversations, is told whole
    view, more = _judged(judging, folder, read_run(folder) if transcripts or form == "json" else read_told(folder))
    tell_left_out(view)
    view = with_trends(settings.reports, folder, view)
    if transcripts:
        view = wiring.with_transcripts(settings, folder, view)
    if out is not None:
        return _into_one(_only(reporters, names), view, out)
    for reporter in reporters:
        for name, text in files_of(reporter, view):
            _write(folder / name, text)
            keep_to_owner(view, folder / name)
    if form == "json":
        say_json({**more, **as_json(view, folder)}, indent=2)
    else:
        _tell(settings, view, folder)
        say("\n".join(f"written: {folder / reporter.filename}" for reporter in reporters))
    return ExitCode.PASSED


def _judged(judging: Judging | None, folder: Path, view: RunView) -> tuple[RunView, dict[str, JsonValue]]:
    """The run with what a policy decides about it, where there is one; also as JSON. Raises UsageError."""
    if view.manifest.state == "running":
        view = view.model_copy(update={"killed": not is_written(folder)})
    if judging is None:
        return view, {}
    decisions = judging.decisions({str(folder): view})
    return judging.told(decisions, str(folder), view), judging.as_json(decisions)


def _tell(settings: wiring.Settings, view: RunView, folder: Path) -> None:
    """The summary of a run, what looks in between came to, and what a policy decides."""
    written = [reporter.filename for reporter in wiring.reporters().values() if (folder / reporter.filename).is_file()]
    say(summary(view, width=width(), color=colored(settings.environ), folder=folder, written=written))
    for told in told_early(view):
        say(folded(told))
    if view.decisions:
        say(f"\n{as_text(view.decisions)}\n")


def _into_one(reporter: Reporter, view: RunView, out: Path) -> ExitCode:
    """One report where it was told to, with its further files beside it; ``-`` is standard output."""
    files = files_of(reporter, view, reporter.filename if str(out) == "-" else out.name)
    if str(out) == "-":
        say(next(files)[1].removesuffix("\n"))
        return ExitCode.PASSED
    for name, text in files:
        place = out.with_name(name)
        _write(place, text)
        keep_to_owner(view, place)
        say(f"written: {place}")
    return ExitCode.PASSED


def _only(reporters: tuple[Reporter, ...], names: tuple[str, ...]) -> Reporter:
    if len(names) != 1:
        raise UsageError("--out takes exactly one report; choose it with --report NAME")
    return reporters[0]


def _write(path: Path, text: str) -> None:
    """A whole file or the old one: written beside, then renamed over it."""
    beside = path.with_name(f".{path.name}.part")
    try:
        beside.unlink(missing_ok=True)
        beside.write_text(text, encoding="utf-8", errors="backslashreplace")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StoreError(f"{path}: cannot be written: {error.strerror or type(error).__name__}") from None
