"""Options of ``harness run`` about how each episode is played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, ParamSpec, TypeVar

import click

from harness.cli.grouped import in_order, keep, kept
from harness.cli.options import DEFAULT_EXECUTOR, sandbox_option, sandbox_said
from harness.errors import UsageError
from harness.schema.run import EpisodeOptions

__all__ = ["episode_options", "options_of"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def options_of(context: click.Context) -> EpisodeOptions:
    """What the options of a command say. Raises UsageError."""
    return EpisodeOptions(
        executor="cold" if kept(context, "executor") == "cold" else "warm",
        sandbox=_sandbox(context),
        shadow_every=int(str(kept(context, "shadow"))),
        keep_workspace=bool(kept(context, "keep_workspace")),
        cut_off_calls="stop" if kept(context, "cut_off_calls") == "stop" else "repeat",
        repeat_idempotent=bool(kept(context, "repeat_idempotent")),
    )


def episode_options(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """The options; the verb finds what they say with ``options_of``."""
    return in_order(verb, _OPTIONS)


def _sandbox(context: click.Context) -> Literal["auto", "require", "off"]:
    said, must = sandbox_said(context), bool(kept(context, "require_sandbox"))
    if must and said == "off":
        raise UsageError("--sandbox off and --require-sandbox contradict each other; leave one out")
    return "require" if must else said


_OPTIONS: Final = (
    click.option(
        "--executor",
        type=click.Choice(("warm", "cold")),
        default=DEFAULT_EXECUTOR,
        show_default=True,
        expose_value=False,
        callback=keep,
        help="How the control plane is run; receipts are the same.",
    ),
    sandbox_option,
    click.option(
        "--require-sandbox/--no-require-sandbox",
        expose_value=False,
        callback=keep,
        help="Refuse to run (4) where the machine can hold nothing to its workspace.",
    ),
    click.option(
        "--shadow",
        type=click.IntRange(min=0),
        default=100,
        show_default=True,
        metavar="N",
        expose_value=False,
        callback=keep,
        help="Repeat every Nth warm call cold and compare; 0 for none.",
    ),
    click.option(
        "--cut-off-calls",
        type=click.Choice(["repeat", "stop"]),
        default="repeat",
        show_default=True,
        expose_value=False,
        callback=keep,
        help="A live call that an earlier run was killed in: make it once more, flagged, or leave its episode pending.",
    ),
    click.option(
        "--repeat-idempotent/--no-repeat-idempotent",
        expose_value=False,
        callback=keep,
        help="Make a control plane's call that an earlier run was killed in again, where with its key it counts once.",
    ),
    click.option(
        "--keep-workspace/--no-keep-workspace",
        expose_value=False,
        callback=keep,
        help="Leave the workspaces, and print where they are.",
    ),
)
