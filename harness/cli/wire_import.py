"""``harness wire import``: cassettes of vcrpy turned into recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import click

from harness import wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.output import harmless, note, say, say_json
from harness.errors import InputError
from harness.schema.base import JsonValue
from harness.schema.counting import counted
from harness.schema.wire_file import API_CODECS
from harness.wiring.importing import Imported, Importer

__all__ = ["import_cassettes"]

_EPILOG: Final = """\b
Examples:
  harness wire import tests/cassettes/*.yaml --out cassettes
  harness wire import talk.json --out cassettes --api openai-chat

\b
Then:
  harness wire decode cassettes/imported/*/*.jsonl
  harness show cassettes/imported/talk-0a1b2c3d/openai--MODEL.jsonl
"""


@click.command("import", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--out", required=True, metavar="DIR", type=click.Path(path_type=Path), help="Where recordings go.")
@click.option(
    "--api",
    type=click.Choice(list(API_CODECS)),
    help="The dialect of every POST of a JSON object.  [default: what address and body say]",
)
@click.option("--replace", is_flag=True, help="Write over another recording that lies there.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    show_default=True,
    help="How it is told.",
)
def import_cassettes(
    *, files: tuple[Path, ...], out: Path, api: str | None, replace: bool, form: Literal["text", "json", "jsonl"]
) -> ExitCode:
    """Turn vcrpy cassettes (YAML or JSON) into recordings: one for each model that a cassette has calls of.

    They are redacted like every recording; keys that stand in a cassette are taken out too. What is no call of a
    model is named and left out. A cassette that cannot be read is named, the others are imported; the exit code is
    then 4. It is 5 where there was no call of a model at all.
    """
    place = wiring.settings()
    importer = Importer(place, place.cwd / out, api=api, replace=replace)
    found: list[Imported] = []
    problems: dict[Path, str] = {}
    for path in files:
        told: JsonValue
        try:
            found.append(importer.take(path))
        except InputError as error:
            problems[path] = str(error)
            note(f"harness: {error}")
            told = {"cassette": str(path), "problem": str(error)}
        else:
            told = _as_json(found[-1])
            if form == "text":
                _say(found[-1])
        if form == "jsonl":
            say_json(told)
    counts = _counts(found, problems)
    if form == "json":
        unread: list[JsonValue] = [{"cassette": str(path), "problem": why} for path, why in problems.items()]
        say_json({"cassettes": [*map(_as_json, found), *unread], **counts}, indent=2)
    elif form == "text":
        say(_summary(counts))
    if problems:
        return ExitCode.BAD_INPUT
    return ExitCode.PASSED if counts["exchanges"] else ExitCode.NOTHING_SELECTED


def _say(one: Imported) -> None:
    for made in one.recordings:
        known = "" if made.is_new else ", which was there already"
        what = f"{counted(made.exchanges, 'exchange')} with {made.provider}/{made.model}"
        say(harmless(f"{one.cassette}  {what}\n  {made.path}{known}"))
    for (what, why), times in one.reasons.items():
        often = "" if times == 1 else f", {times} times"
        note(f"harness: {one.cassette}: left out: {what}{often}: {why}")


def _as_json(one: Imported) -> JsonValue:
    recordings: list[JsonValue] = [
        {
            "path": str(made.path),
            "api": made.api,
            "provider": made.provider,
            "model": made.model,
            "exchanges": made.exchanges,
            "new": made.is_new,
        }
        for made in one.recordings
    ]
    left_out: list[JsonValue] = [{"number": out.number, "what": out.what, "why": out.why} for out in one.left_out]
    return {"cassette": str(one.cassette), "recordings": recordings, "left_out": left_out}


def _counts(found: list[Imported], problems: dict[Path, str]) -> dict[str, int]:
    made = [recording for one in found for recording in one.recordings]
    return {
        "read": len(found),
        "unread": len(problems),
        "recordings": len(made),
        "exchanges": sum(one.exchanges for one in made),
        "already_there": sum(not one.is_new for one in made),
        "left_out": sum(len(one.left_out) for one in found),
    }


def _summary(counts: dict[str, int]) -> str:
    """One line: cassettes, exchanges, recordings, and what was left out."""
    known = f" ({counts['already_there']} there already)" if counts["already_there"] else ""
    told = [
        f"{counted(counts['read'], 'cassette')} read",
        f"{counted(counts['exchanges'], 'exchange')} in {counted(counts['recordings'], 'recording')}{known}",
        f"{counted(counts['left_out'], 'exchange')} left out",
    ]
    if counts["unread"]:
        told.append(f"{counted(counts['unread'], 'file')} could not be imported")
    return ", ".join(told)
