"""``harness show``: one episode in words, or what was said in it."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from harness import catalog, wiring
from harness.cli.conclusion import tell_left_out
from harness.cli.exit_codes import ExitCode
from harness.cli.output import colored, say, say_json, width
from harness.cli.waiting import question_of, to_do
from harness.errors import HarnessError, StoreError, UsageError
from harness.receipt import read_run
from harness.schema.base import JsonValue
from harness.schema.receipt import Receipt
from harness.schema.recording import Drift
from harness.schema.run import EpisodeJob, RunLogEntry, RunView
from harness.schema.transcript import Transcript
from harness.suite import is_stale

__all__ = ["show"]

_EPILOG = """\b
Examples:
  harness show reports/20260101T000000Z-0a1b/2
  harness show reports/20260101T000000Z-0a1b/2 --transcript
  harness show mine --scenario loopx/selected-todo --actor openai/MODEL
  harness show recordings/loopx/selected-todo/openai--MODEL.jsonl
"""
_RUN = "manifest.json"
_RECORDING = ".jsonl"


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("episode", metavar="EPISODE", type=click.Path(path_type=Path))
@click.option("--scenario", help="Which episode of a run: the one of this scenario.")
@click.option("--actor", help="Which episode of a run: the one of this actor.")
@click.option("--trial", type=click.IntRange(min=1), help="Which episode of a run: this trial.")
@click.option("--transcript", is_flag=True, help="Show the recorded conversation, which is redacted.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How it is told."
)
def show(
    *, episode: Path, scenario: str | None, actor: str | None, trial: int | None, transcript: bool, form: str
) -> ExitCode:
    """Tell one episode: RUN/NUMBER as the summary numbers it, a run folder, or a recording.

    Long texts of a conversation are folded on a terminal; --format json has them whole.
    """
    settings = wiring.settings()
    if episode.suffix == _RECORDING and not (episode / _RUN).exists():
        _say_transcript(settings, wiring.transcript_of(settings, settings.cwd / episode), form)
        return ExitCode.PASSED
    folder, number = _place(episode)
    view = read_run(folder)
    tell_left_out(view)
    number = _chosen(view, folder, number, scenario=scenario, actor=actor, trial=trial)
    receipt = view.receipts[number - 1]
    kept = wiring.kept_recording(settings, folder, receipt)
    if transcript:
        if kept is None:
            raise StoreError(f"{folder}/{number}: {_nothing_kept(receipt, view.log[number - 1])}")
        _say_transcript(settings, wiring.transcript_of(settings, kept), form)
    elif form == "json":
        _say_receipt(view, number, kept, question_of(settings, view, folder, number))
    else:
        told: str = catalog.shared("reporters", "episode").tell(
            view,
            number,
            width=width(),
            color=colored(settings.environ),
            recording=_nothing_kept(receipt, view.log[number - 1]) if kept is None else str(kept),
            drifts=_drifts(settings, receipt, kept),
            asks=question_of(settings, view, folder, number),
            to_type=to_do(view, folder, number),
            again=None if kept is None else shlex.join(["harness", "show", f"{folder}/{number}", "--transcript"]),
        )
        say(told)
    return ExitCode.PASSED


def _place(episode: Path) -> tuple[Path, int | None]:
    """The run folder, and the number behind it where there is one."""
    if not (episode / _RUN).exists() and episode.name.isascii() and episode.name.isdecimal():
        return episode.parent, int(episode.name)
    return episode, None


def _chosen(
    view: RunView, folder: Path, number: int | None, *, scenario: str | None, actor: str | None, trial: int | None
) -> int:
    """The number of the one episode that is meant."""
    total = len(view.receipts)
    there = f"it has {f'1 to {total}' if total else 'none'}"
    if number is not None and not 1 <= number <= total:
        raise UsageError(f"{folder} has no episode {number}; {there}")
    found = [
        place
        for place, receipt in enumerate(view.receipts, start=1)
        if number in {None, place}
        and scenario in {None, receipt.scenario}
        and actor in {None, receipt.actor.ref}
        and trial in {None, receipt.trial}
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{folder} has several such episodes: {', '.join(map(str, found))}; name one as {folder}/{found[0]}"
        )
    raise UsageError(f"{folder} has no such episode; {there}")


def _nothing_kept(receipt: Receipt, log: RunLogEntry) -> str:
    if log.resumable:
        return "the episode is not over: what is recorded of it is kept, as --keep says, when it ends"
    if receipt.actor.kind == "script":
        return f"a script is not recorded; harness scenario show {receipt.scenario} tells what it does"
    if receipt.actor.kind == "recorded":
        return "the recording that was played is not found from here; name its file: harness show FILE"
    return "no recording of this episode was kept; harness run --keep all keeps every one"


def _drifts(settings: wiring.Settings, receipt: Receipt, kept: Path | None) -> tuple[Drift, ...]:
    """What no longer fits the recording, with the words that no receipt holds; none where that is not the same now."""
    if kept is None or not is_stale(receipt):
        return ()
    try:
        loaded = wiring.load_scenario(settings, receipt.scenario)
        plane = wiring.plane_identity(settings, receipt.plane.ref)
        if (loaded.digest, plane) != (receipt.scenario_digest, receipt.plane):
            return ()
        (spec,) = wiring.recorded_specs(settings, loaded, str(kept))
        job = EpisodeJob(loaded=loaded, actor=spec, plane=plane, trial=receipt.trial)
        with wiring.Session(settings) as session:
            return wiring.recording_report(settings, session, job).drifts
    except HarnessError:
        return ()


def _say_receipt(view: RunView, number: int, kept: Path | None, asks: str | None) -> None:
    receipt = view.receipts[number - 1]
    log = next((entry for entry in view.log if entry.key == receipt.key), None)
    told: dict[str, JsonValue] = {
        "number": number,
        "receipt": receipt.model_dump(mode="json"),
        "log": None if log is None else log.model_dump(mode="json"),
        "recording": None if kept is None else str(kept),
        "asks": asks,
    }
    say_json(told, indent=2)


def _say_transcript(settings: wiring.Settings, transcript: Transcript, form: str) -> None:
    if form == "json":
        say_json(transcript.model_dump(mode="json"), indent=2)
        return
    told: str = catalog.shared("reporters", "transcript").tell(
        transcript, width=width(), color=colored(settings.environ)
    )
    say(told)
