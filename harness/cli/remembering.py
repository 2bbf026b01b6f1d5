"""Options of ``harness run`` that hold for a run as long as it lasts, also where it is gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

from harness.cli.grouped import keep_as, kept
from harness.errors import StoreError

__all__ = ["ANEW", "PLANNED", "REMEMBERED", "Said", "recalled", "told"]

#: What an option says, as it is kept.
Said = bool | int | str | tuple[str, ...]

#: What is played, and where: beside ``--resume`` these are refused.
PLANNED: Final = frozenset({"selection", "actors", "planes", "trials", "sets", "shard", "early", "out"})
#: How it is played and what is left of it on disk: said once, and said again only to say something else.
REMEMBERED: Final = frozenset(
    {
        "connect",
        "cut_off_calls",
        "executor",
        "keep",
        "keep_workspace",
        "limits",
        "read",
        "refusals",
        "repeat_idempotent",
        "reports",
        "require_sandbox",
        "retries",
        "sandbox",
        "shadow",
        "stale",
    }
)
#: What one command prints, decides by, may use and may spend, and what it does with what waits: said each time.
ANEW: Final = frozenset(
    {
        "answers",
        "at_once",
        "baseline",
        "decisions",
        "dry_run",
        "form",
        "max_cost",
        "max_time",
        "policy",
        "pool",
        "replay_damaged",
        "resume",
        "yes_spend",
    }
)


_OWN_DEFAULTS: Final = (click.core.ParameterSource.DEFAULT, None)


def told(context: click.Context) -> dict[str, Said]:
    """What the remembered options of a new run say beside their defaults, whoever says it, as it is kept beside it."""
    names = sorted(name for name in REMEMBERED if context.get_parameter_source(name) not in _OWN_DEFAULTS)
    return {name: _plain(kept(context, name)) for name in names}


def recalled(context: click.Context, said: Mapping[str, Said], where: str) -> dict[str, Said]:
    """All that holds from now on: what was ``said`` of a run before, and over it what is typed.

    Options that are not typed say what they said before: neither the environment nor a file changes a run that goes
    on. Raises StoreError, which names ``where`` that was kept.
    """
    by_hand = click.core.ParameterSource.COMMANDLINE
    now = {
        name: _plain(kept(context, name))
        for name in sorted(REMEMBERED)
        if context.get_parameter_source(name) is by_hand
    }
    options = {one.name: one for one in context.command.params if isinstance(one, click.Option)}
    for name, value in said.items():
        if name not in REMEMBERED or isinstance(value, tuple) != options[name].multiple:
            raise StoreError(f"{where}: is not what harness wrote there")
        if name in now:
            continue
        try:
            keep_as(context, name, options[name].type_cast_value(context, value))
        except (click.UsageError, TypeError, ValueError):
            raise StoreError(f"{where}: is not what harness wrote there") from None
    for name in REMEMBERED - now.keys() - said.keys():
        keep_as(context, name, _own_default(context, options[name]))
    return {**said, **now}


def _own_default(context: click.Context, option: click.Option) -> object:
    """What an option says where nobody says anything."""
    default = option.get_default(click.Context(context.command))
    given = default if isinstance(default, bool | int | float | str | tuple | list) else None
    value: object = option.type_cast_value(context, given)
    return value


def _plain(value: object) -> Said:
    if isinstance(value, bool | int):
        return value
    return tuple(map(str, value)) if isinstance(value, tuple) else str(value)
