"""``harness wire decode``: captured answers explained."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from harness.cli.exit_codes import ExitCode
from harness.cli.output import note, say, say_json
from harness.cli.wire_told import as_json, as_text
from harness.errors import UsageError
from harness.schema.base import JsonValue
from harness.wiring.decoding import explain, read_wire_file

__all__ = ["decode"]

_EPILOG = """\b
Examples:
  harness wire decode answer.json
  harness wire decode *.json --format jsonl

\b
A file holds one answer:
  {"id": "mine", "api": "openai-chat", "stream": false,
   "http": {"status": 200, "headers": {}, "body_text": "{...}"},
   "context": {"tools": [{"name": "run", "parameters": {...}}],
               "tool_results": ["done"]}}
api: openai-chat, openai-responses, anthropic, gemini. Of a stream,
body_sse_lines holds the lines.
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True, help="How it is told."
)
def decode(*, files: tuple[Path, ...], form: Literal["text", "jsonl"]) -> ExitCode:
    """Explain captured answers of providers, and show the request that would follow each.

    Nothing is sent. Files that cannot be read are named, the others are explained; the exit code is then 4.
    """
    refused = 0
    for path in files:
        try:
            file = read_wire_file(path)
            found = explain(file)
        except UsageError as error:
            note(f"harness: {error}")
            refused += 1
            continue
        if form == "jsonl":
            first, *later = [as_json(one, request=True) for one in found]
            more: dict[str, JsonValue] = {"then": [*later]} if later else {}
            say_json({"id": file.id, **first, **more})
        else:
            names = [file.id, *(f"{file.id}, then {number}" for number in range(1, len(found)))]
            say("\n\n".join(as_text(name, one, request=True) for name, one in zip(names, found, strict=True)))
    return ExitCode.BAD_INPUT if refused else ExitCode.PASSED
