"""What options of commands say where the command line says nothing, and who says it, for ``harness doctor``."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal

import click

from harness import config, environment, wiring
from harness.cli.configured import ConfiguredContext, configured, key_of, refused, said_by
from harness.cli.folder import chosen_reporters
from harness.cli.options import NONE
from harness.cli.output import harmless
from harness.config import Default
from harness.errors import InputError
from harness.redaction import CREDENTIAL, credentials, without_credentials
from harness.schema.base import JsonValue
from harness.wiring import Settings
from harness.wiring.policy_file import read_policy

__all__ = ["Effective", "effective", "suspects"]

_DEFAULTS: Final = click.core.ParameterSource.DEFAULT
#: What a help tells of a default that the option itself does not hold.
_DEFAULT: Final = re.compile(r"\[default: ([^\]]*)\]")
#: Variables that begin like those of options and are none.
_OTHERS: Final = ("HARNESS_HOME", "HARNESS_DEBUG", "HARNESS_API_KEY", "HARNESS_TEST_HOME")


@dataclass(frozen=True, slots=True)
class Effective:
    """An option with what it says: ``place`` is the variable, or ``FILE:LINE``; empty where it is the default.

    ``problem`` is what is wrong with that, empty where nothing is; ``told`` what its help says of a default that is
    no value.
    """

    command: str
    option: str
    value: JsonValue
    source: Literal["environment", "file", "default"]
    place: str
    problem: str = ""
    told: str = ""

    @property
    def shown(self) -> str:
        """The value for people."""
        match self.value:
            case None | []:
                return self.told or "-"
            case bool():
                return "yes" if self.value else "no"
            case list():
                return ", ".join(map(str, self.value))
            case float():
                return f"{self.value:g}"
            case _:
                return str(self.value)


def effective(settings: Settings, verbs: Mapping[str, tuple[str, str, str]]) -> tuple[Effective, ...]:
    """Every option that may be set elsewhere than on the command line. Raises ConfigError for the file as a whole."""
    return (_reports(settings), *(one for name in config.COMMANDS for one in _of_command(settings, *verbs[name][:2])))


def suspects(settings: Settings) -> Iterator[environment.Fact]:
    """Variables that look like those of options and set nothing."""
    known = {config.variable(key) for options in config.COMMANDS.values() for key in options}
    known |= {config.variable(config.REPORTS), *_OTHERS}
    never = {config.variable(key): why for key, why in config.NEVER.items()}
    for name in sorted(settings.environ):
        if name in never:
            yield environment.Fact(f"variable {name}", "optional", "sets nothing", never[name])
            continue
        near = get_close_matches(name, known, n=1, cutoff=0.85) if name.startswith("HARNESS_") else []
        if near and name not in known:
            yield environment.Fact(f"variable {harmless(name)}", "optional", "sets nothing", f"did you mean {near[0]}?")


def _reports(settings: Settings) -> Effective:
    written = config.reports_of(settings.config)
    name = config.variable(config.REPORTS)
    if settings.environ.get(name):
        return Effective("", config.REPORTS, _safe(settings.environ[name]), "environment", name)
    if written is not None:
        return Effective("", config.REPORTS, _safe(written.value), "file", _short(settings, written.place))
    return Effective("", config.REPORTS, str(settings.reports.relative_to(settings.cwd)), "default", "")


def _of_command(settings: Settings, module: str, attribute: str) -> Iterable[Effective]:
    command = configured(getattr(importlib.import_module(module), attribute))
    context = ConfiguredContext(command, info_name=command.name)
    for option in command.params:
        if isinstance(option, click.Option) and key_of(option) in config.COMMANDS[str(command.name)]:
            yield _option(settings, context, option)


def _option(settings: Settings, context: click.Context, option: click.Option) -> Effective:
    """Asked as the command itself asks for it."""
    value, source = option.consume_value(context, {})
    context.set_parameter_source(str(option.name), source)
    name, key, problem = str(context.command.name), key_of(option), ""
    try:
        with click.core.augment_usage_errors(context, option):
            option.process_value(context, value)
            value = option.type_cast_value(context, value) if source is not _DEFAULTS else value
        if source is not _DEFAULTS:
            _use(key, value)
    except click.BadParameter as error:
        problem = without_credentials(refused(error) or error.message)
    except InputError as error:
        problem = without_credentials(str(error))
    said = said_by(context, option)
    match said:
        case str():
            return Effective(name, key, _safe(value), "environment", said, problem)
        case Default():
            return Effective(name, key, _safe(value), "file", _short(settings, said.place), problem)
        case _:
            found = _DEFAULT.search(option.help or "")
            return Effective(name, key, _plain(value), "default", "", told=found[1] if found else "")


def _use(key: str, value: object) -> None:
    """Look for what an option names, as its command would. Raises InputError."""
    match key, value:
        case "report", tuple():
            chosen_reporters(wiring.reporters(), [str(name) for name in value])
        case "policy", Path() if value != Path(NONE):
            read_policy(value)


def _safe(value: object) -> JsonValue:
    """Without what may be a credential: these values are anybody's."""
    plain = _plain(value)
    # a text by itself stands at the empty pointer, which counts as well
    return CREDENTIAL if list(credentials(plain)) else plain


def _plain(value: object) -> JsonValue:
    match value:
        case bool() | int() | float():
            return value
        case str() | Path():
            return harmless(str(value))
        case tuple() | list():
            return [harmless(str(item)) for item in value]
        case _:
            return None


def _short(settings: Settings, place: str) -> str:
    """A place in a file of the working folder, without the folder."""
    return place.removeprefix(f"{settings.cwd}{os.sep}")
