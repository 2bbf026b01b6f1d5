"""``harness wire probe``: one request to a live endpoint, and its answer explained."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import click

from harness import wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.options import NumberRange
from harness.cli.output import say, say_json
from harness.cli.wire_told import as_json, as_text
from harness.schema.limits import COUNT_MAX
from harness.wiring.probing import Bounds, Question, probe, read_tools

__all__ = ["probe_endpoint"]

_EPILOG: Final = """\b
Examples:
  harness wire probe openai/MODEL --prompt "Say hello."
  harness wire probe anthropic/MODEL --tools tools.json \\
    --prompt "Which files are there?" --stream
  harness wire probe vllm/MODEL --retries 2 --format json

\b
tools.json: [{"name": "list_dir", "parameters": {"type": "object"}}]
"""
_SECONDS: Final = NumberRange(min=0, max=86_400, min_open=True)


@click.command("probe", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("actor", metavar="ACTOR")
@click.option("--tools", type=click.Path(path_type=Path), help="JSON list of tools that are declared.")
@click.option("--prompt", default="Say hello.", show_default=True, help="What the model is asked.")
@click.option("--set", "sets", multiple=True, metavar="NAME=VALUE", help="A generation setting; repeatable.")
@click.option("--stream", is_flag=True, help="Ask for a stream of events.")
@click.option("--max-output-tokens", type=click.IntRange(1, COUNT_MAX), help="Most tokens of the answer.")
@click.option("--read-timeout", type=_SECONDS, metavar="S", help="Longest silence in an answer.")
@click.option(
    "--deadline", type=_SECONDS, metavar="S", default=120.0, show_default=True, help="Longest time for an attempt."
)
@click.option("--retries", type=click.IntRange(0, 10), default=0, show_default=True, help="Further attempts.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How it is told."
)
def probe_endpoint(
    *,
    actor: str,
    tools: Path | None,
    prompt: str,
    sets: tuple[str, ...],
    stream: bool,
    max_output_tokens: int | None,
    read_timeout: float | None,
    deadline: float,
    retries: int,
    form: Literal["text", "json"],
) -> ExitCode:
    """Send one request to a live model, PROVIDER/MODEL[@BASE_URL] or a NAME of harness.toml; explain its answer.

    It costs what one short call costs. The exit code is 0 for an answer and 2 where there is none.
    """
    declared = () if tools is None else read_tools(tools)
    more = [*sets, *(["stream=true"] if stream else [])]
    if max_output_tokens is not None:
        more.append(f"max_output_tokens={max_output_tokens}")
    bounds = Bounds(deadline_s=deadline, read_s=read_timeout, retries=retries)
    probed = probe(wiring.settings(), actor, Question(prompt, declared, more), bounds)
    name, found = actor.partition("@")[0], probed.found
    if form == "json":
        told = {"id": name, **as_json(found, request=False), "attempts": probed.attempts}
        say_json(probed.scrubber.json(told), indent=2)
    else:
        say(probed.scrubber.text(as_text(name, found, request=False)))
    return ExitCode.PASSED if found.error is None else ExitCode.NOT_JUDGED
