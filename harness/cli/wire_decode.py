"""``harness wire decode``: captured answers explained."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, NamedTuple

import click

from harness.cli.exit_codes import ExitCode
from harness.cli.output import note, say, say_json
from harness.cli.wire_told import as_json, as_text
from harness.errors import InputError, UsageError
from harness.schema.base import JsonValue
from harness.wiring.decoding import explain, read_wire_file
from harness.wiring.decoding_recordings import explain_recording

__all__ = ["decode"]

_EPILOG = """\b
Examples:
  harness wire decode answer.json
  harness wire decode *.json --format jsonl
  harness wire decode recordings/demo/first/openai--MODEL.jsonl

\b
A file holds one answer:
  {"id": "mine", "api": "openai-chat", "stream": false,
   "http": {"status": 200, "headers": {}, "body_text": "{...}"},
   "context": {"tools": [{"name": "run", "parameters": {...}}],
               "tool_results": ["done"]}}
api: openai-chat, openai-responses, anthropic, gemini. Of a stream,
body_sse_lines holds the lines.
"""
_RECORDING: Final = ".jsonl"
_CASSETTES: Final = (".yaml", ".yml")


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True, help="How it is told."
)
def decode(*, files: tuple[Path, ...], form: Literal["text", "jsonl"]) -> ExitCode:
    """Explain captured answers of providers, and show the request that would follow each.

    A recording may be given too: each of its answers is explained. Nothing is sent. Files that cannot be read are
    named, the others are explained; the exit code is then 4.
    """
    refused = 0
    for path in files:
        try:
            told = _told(path)
        except InputError as error:
            note(f"harness: {error}")
            refused += 1
            continue
        if form == "jsonl":
            for value in told.values:
                say_json(value)
        else:
            say("\n\n".join(told.texts))
    return ExitCode.BAD_INPUT if refused else ExitCode.PASSED


class _Told(NamedTuple):
    """What is told of one file, either way."""

    values: list[dict[str, JsonValue]]
    texts: list[str]


def _told(path: Path) -> _Told:
    """By what kind of file it is. Raises InputError."""
    if path.suffix in _CASSETTES:
        raise UsageError(f"{path}: is this a cassette of vcrpy? harness wire import {path} --out DIR reads those")
    return _recording(path) if path.suffix == _RECORDING else _answer(path)


def _answer(path: Path) -> _Told:
    """One object, and a text for each answer in it."""
    file = read_wire_file(path)
    found = explain(file)
    first, *later = [as_json(one, request=True) for one in found]
    more: dict[str, JsonValue] = {"then": [*later]} if later else {}
    names = [file.id, *(f"{file.id}, then {number}" for number in range(1, len(found)))]
    texts = [as_text(name, one, request=True) for name, one in zip(names, found, strict=True)]
    return _Told([{"id": file.id, **first, **more}], texts)


def _recording(path: Path) -> _Told:
    """An object and a text for each answer; which request followed is in the recording itself."""
    found = explain_recording(path)
    names = [f"{path.stem}#{number}" for number in range(1, len(found) + 1)]
    values = [{"id": name, **as_json(one, request=False)} for name, one in zip(names, found, strict=True)]
    return _Told(values, [as_text(name, one, request=False) for name, one in zip(names, found, strict=True)])
