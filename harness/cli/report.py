"""``harness report``: render the reports of a run folder again."""

from __future__ import annotations

from pathlib import Path

import click

from harness import wiring
from harness.cli.conclusion import tell_left_out
from harness.cli.exit_codes import ExitCode
from harness.cli.folder import as_json, chosen_reporters, keep_to_owner, summary
from harness.cli.options import format_option
from harness.cli.output import colored, say, say_json, width
from harness.cli.reporting import files_of
from harness.collecting import READ_OBJECTS, rare_collections
from harness.errors import StoreError, UsageError
from harness.ports import Reporter
from harness.receipt import is_written, read_run, read_told
from harness.wiring.trending import with_trends

__all__ = ["report"]

_EPILOG = """\b
Examples:
  harness report reports/20260101T000000Z-0a1b
  harness report reports/20260101T000000Z-0a1b --report html --out page.html
  harness report reports/20260101T000000Z-0a1b --report html --transcripts
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--report", "names", multiple=True, metavar="NAME", help="Reports to write.  [default: all]")
@click.option("--transcripts", is_flag=True, help="Put kept conversations into the page; then only you may read it.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the one report there; - for standard output."
)
@format_option("How the run is told; json holds its receipts and what it cost.", "text", "json")
@rare_collections(READ_OBJECTS)
def report(*, folder: Path, names: tuple[str, ...], transcripts: bool, out: Path | None, form: str) -> ExitCode:
    """Render reports from the receipts in the folder RUN, into it; prints the summary of the run.

    The exit code says only whether the reports were written; the verdicts are those of the run.
    """
    settings = wiring.settings()
    reporters = chosen_reporters(wiring.reporters(), names)
    # what a machine reads, and what is told beside conversations, is told whole
    view = read_run(folder) if transcripts or form == "json" else read_told(folder)
    if view.manifest.state == "running":
        view = view.model_copy(update={"killed": not is_written(folder)})
    tell_left_out(view)
    view = with_trends(settings.reports, folder, view)
    if transcripts:
        view = wiring.with_transcripts(settings, folder, view)
    if out is None:
        for reporter in reporters:
            for name, text in files_of(reporter, view):
                _write(folder / name, text)
                keep_to_owner(view, folder / name)
        if form == "json":
            say_json(as_json(view, folder), indent=2)
            return ExitCode.PASSED
        written = [
            reporter.filename for reporter in wiring.reporters().values() if (folder / reporter.filename).is_file()
        ]
        say(summary(view, width=width(), color=colored(settings.environ), folder=folder, written=written))
        say("\n".join(f"written: {folder / reporter.filename}" for reporter in reporters))
        return ExitCode.PASSED
    if form == "json":
        raise UsageError("--out writes one report, and --format json tells a whole run; leave one of them out")
    only = _only(reporters, names)
    files = files_of(only, view, only.filename if str(out) == "-" else out.name)
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
