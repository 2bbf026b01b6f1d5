"""A group of commands that knows what each is for without importing it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

import click

from harness.cli.exit_codes import ExitCode

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """A click group over ``{name: (module, attribute, what it does)}``; a module is imported when its verb is used."""

    def __init__(
        self,
        name: str,
        verbs: Mapping[str, tuple[str, str, str]],
        *,
        text: str,
        epilog: str,
        params: list[click.Parameter] | None = None,
        first: Callable[[], None] | None = None,
        prepare: Callable[[click.Command], click.Command] = lambda verb: verb,
    ) -> None:
        """``first`` is called before any verb, ``prepare`` with each one that is used."""
        super().__init__(
            name=name,
            help=text,
            epilog=epilog,
            params=params,
            callback=first,
            invoke_without_command=False,
            no_args_is_help=False,
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        self.verbs = dict(verbs)
        self.prepare = prepare

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The options of the group. Without any word there is nothing to do: the help is shown, as usage is told."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit(ExitCode.BAD_INPUT)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order they are declared in."""
        del ctx
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, imported now; None where there is none of that name."""
        del ctx
        if cmd_name not in self.verbs:
            return None
        module, attribute, _ = self.verbs[cmd_name]
        command = getattr(importlib.import_module(module), attribute)
        return self.prepare(command) if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that ``args`` start with. Raises click.UsageError naming those that exist."""
        if args[0] not in self.verbs and not args[0].startswith("-"):
            raise click.UsageError(f"unknown command {args[0]!r}; there are: {', '.join(self.verbs)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with what they do, from the table alone."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, _, summary) in self.verbs.items()])
