"""What an option says where the command line does not: the environment, then the file, then its own default."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from types import TracebackType

import click

from harness import config, wiring
from harness.config import Default
from harness.errors import HarnessError

__all__ = ["ConfiguredContext", "configured", "key_of", "plainly", "refused", "said_by"]

_SOURCES = click.core.ParameterSource


class ConfiguredContext(click.Context):
    """The context of a command whose options may be set in the working folder's file, which is read when one is asked.

    Help tells the defaults that hold everywhere, and needs no file.
    """

    @cached_property
    def written(self) -> dict[str, Default]:
        """What the file says of options, by the names of their parameters. Raises ConfigError."""
        section = self.command.name or ""
        said = config.load_defaults(wiring.settings().config).get(section, {})
        named = {key_of(option): option for option in self.command.params if isinstance(option, click.Option)}
        return {str(named[key].name): default for key, default in said.items()}

    def lookup_default(self, name: str, call: bool = True) -> object:  # noqa: FBT002  (as click declares it)
        """What the file says of an option; None where it says nothing, and where the default itself is asked for."""
        if not call or name not in self.written:
            return None
        return self.written[name].value

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What the command refuses is told with who said it, where that was not the command line."""
        if isinstance(error, HarnessError):
            notes = dict.fromkeys(f"{place} says so" for place in self._said_of(str(error)))
            for note in notes.keys() - set(getattr(error, "__notes__", ())):
                error.add_note(note)
        super().__exit__(kind, error, trace)

    def _said_of(self, line: str) -> Iterator[str]:
        """Who set the texts that an error line names."""
        for option in self.command.params:
            said = said_by(self, option)
            if said is None:
                continue
            value = option.consume_value(self, {})[0]
            texts = value if isinstance(value, list | tuple) else [value]
            if any(isinstance(text, str) and len(text) > 1 and text in line for text in texts):
                yield said if isinstance(said, str) else said.place


def configured(command: click.Command) -> click.Command:
    """The command, with the variables and the file that may set its options; as it was where none may be."""
    known = config.COMMANDS.get(command.name or "")
    if known is None:
        return command
    command.context_class = ConfiguredContext
    for option in command.params:
        if isinstance(option, click.Option) and key_of(option) in known:
            option.envvar = config.variable(key_of(option))
    return command


def key_of(option: click.Option) -> str:
    """What an option is called in the file: ``cut_off_calls`` for ``--cut-off-calls``."""
    return max(option.opts, key=len).lstrip("-").replace("-", "_")


def said_by(context: click.Context, option: click.Parameter) -> str | Default | None:
    """Who says what an option says, where neither the command line nor its own default does: a variable or the file."""
    source = context.get_parameter_source(str(option.name))
    if source is _SOURCES.ENVIRONMENT and isinstance(option.envvar, str):
        return option.envvar
    if source is _SOURCES.DEFAULT_MAP and isinstance(context, ConfiguredContext):
        return context.written[str(option.name)]
    return None


def plainly(problem: str) -> str:
    """What click says of a number that is none, in the words of the file's own errors."""
    return problem.replace("a valid integer range", "a whole number").replace("a valid float range", "a number")


def refused(error: click.ClickException) -> str | None:
    """The line about an option that a variable or the file sets wrong; None where the command line did.

    What stands in a file is not shown: it may be anything.
    """
    option = error.param if isinstance(error, click.BadParameter) else None
    context = error.ctx if isinstance(error, click.UsageError) else None
    said = None if option is None or context is None else said_by(context, option)
    if option is None or said is None:
        return None
    problem = plainly(error.message.rstrip("."))
    if isinstance(said, str):
        return f"{said}: {problem}"
    return f"{said.place}: {said.name}: {_told(option, problem)}"


def _told(option: click.Parameter, problem: str) -> str:
    """What is wrong with a value of a file."""
    match option.type:
        case click.Choice(choices=choices):
            return f"not such a value; allowed: {', '.join(map(str, choices))}"
        case click.types.IntRange(min=least, max=most) | click.types.FloatRange(min=least, max=most):
            allowed = f"{least} and more" if most is None else f"from {least} to {most}"
            return f"not such a value; allowed: {allowed}"
        case _:
            return problem
