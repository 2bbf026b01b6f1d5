"""``harness doctor``: what is here and what is missing."""

from __future__ import annotations

import shutil
from typing import get_args

import click

from harness import config, environment, provision, wiring
from harness.cli.doctor_settings import Effective, effective, suspects
from harness.cli.exit_codes import ExitCode
from harness.cli.lazy import LazyGroup
from harness.cli.options import format_option
from harness.cli.output import say, say_json, table
from harness.clock import SystemClock
from harness.errors import ConfigError, EnvironmentProblem
from harness.schema.base import JsonValue
from harness.schema.confinement import Hold
from harness.wiring.built_in import built_in_identities
from harness.wiring.known_keys import key_variables
from harness.wiring.quarantine import quarantine
from harness.wiring.sandboxing import measured

__all__ = ["doctor"]

_EPILOG = """\b
Examples:
  harness doctor
  harness doctor --format json
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@format_option("How the facts and settings are printed.")
@click.pass_context
def doctor(context: click.Context, *, form: str) -> ExitCode:
    """Report python, git, control planes, means of sandboxing, and which API keys are set (by name only).

    And what each option says that the environment or a file may set, and which of them does. Exits 4 where something
    is missing that a run needs, or is set wrong.
    """
    settings = wiring.settings()
    facts, said = _facts(settings), _settings(settings, context)
    facts = (*facts, *_problems(said), *suspects(settings))
    lacking = [fact.name for fact in facts if fact.status == "missing"]
    listed: list[JsonValue] = [
        {"name": one.name, "status": one.status, "text": one.text, "hint": one.hint} for one in facts
    ]
    rows: list[JsonValue] = [
        {"command": one.command, "option": one.option, "value": one.value, "source": one.source, "place": one.place}
        for one in said
    ]
    if form == "json":
        say_json({"facts": listed, "settings": rows}, indent=2)
    elif form == "jsonl":
        for row in (*listed, *rows):
            say_json(row)
    else:
        say(f"missing: {', '.join(lacking)}" if lacking else "everything that a run needs is here")
        say(table(("what", "state", "found"), [(one.name, one.status, _found(one.text, one.hint)) for one in facts]))
        if said:
            say("")
            say(table(("setting", "is", "from"), [(_called(one), one.shown, one.place or one.source) for one in said]))
    return ExitCode.BAD_INPUT if lacking else ExitCode.PASSED


def _settings(settings: wiring.Settings, context: click.Context) -> tuple[Effective, ...]:
    """None where the file cannot be used: that is a fact of its own."""
    group = context.find_root().command
    try:
        return effective(settings, group.verbs if isinstance(group, LazyGroup) else {})
    except ConfigError:
        return ()


def _problems(said: tuple[Effective, ...]) -> tuple[environment.Fact, ...]:
    return tuple(
        environment.Fact(f"setting {_called(one)}", "missing", one.problem, "set it right, or leave it out")
        for one in said
        if one.problem
    )


def _called(one: Effective) -> str:
    return f"{one.command} {one.option}".strip()


def _facts(settings: wiring.Settings) -> tuple[environment.Fact, ...]:
    variables: tuple[str, ...] = ()
    written: list[environment.Fact] = []
    try:
        variables = key_variables(settings)
        config.load_defaults(settings.config)
        config.reports_of(settings.config)
    except ConfigError as error:
        written.append(environment.Fact("configuration", "missing", str(error), "set it right, or leave it out"))
    facts = environment.inspect(settings.environ, shutil.which, key_variables=variables, home=settings.home)
    providers = [one for one in _providers(settings) if one.text not in {other.text for other in written}]
    more = (*providers, *_quarantine(settings), *_planes(settings))
    return (*facts, *written, _sandbox(), _network(settings), *more)


def _sandbox() -> environment.Fact:
    """What was seen to hold when something tried to get out of its workspace, just now."""
    lost = "what is run is measured, but can do what you can"
    try:
        found = measured()
    except EnvironmentProblem as error:
        return environment.Fact("sandbox", "optional", str(error), lost)
    if found.level == "none":
        return environment.Fact("sandbox", "optional", "none: neither Landlock nor namespaces can be used", lost)
    open_ = [hold for hold in get_args(Hold) if hold not in found.held]
    text = f"{found.level}, by {', '.join(found.means)}"
    if not open_:
        return environment.Fact("sandbox", "ok", text)
    return environment.Fact("sandbox", "optional", text, f"not held: {', '.join(open_)}")


def _providers(settings: wiring.Settings) -> tuple[environment.Fact, ...]:
    """What ``harness.toml`` says of providers."""
    try:
        told = config.load_providers(settings.config)
    except ConfigError as error:
        return (environment.Fact("providers", "missing", str(error), "set it right, or leave it out"),)
    return tuple(environment.Fact(f"provider {name}", "ok", one.told) for name, one in told.items())


def _quarantine(settings: wiring.Settings) -> tuple[environment.Fact, ...]:
    """A row for each entry of ``quarantine.toml``, with what its owner has to do about it."""
    try:
        found = quarantine(settings, SystemClock().now(), wiring.scenarios)
    except ConfigError as error:
        return (environment.Fact("quarantine", "missing", str(error), "set it right, or leave it out"),)
    nowhere, rows = set(found.nowhere), []
    for entry in found.entries:
        hints = {
            "matches no scenario": entry in nowhere,
            "is over: it counts again; leave it out, or set a new day": found.is_over(entry),
            "a week or less is left": found.is_soon_over(entry),
        }
        hint = "; ".join(said for said, holds in hints.items() if holds)
        # names are short: the column of names takes no room from the other ones
        text = f"{entry.told}: {entry.terms}"
        rows.append(environment.Fact("quarantine", "optional" if hint else "ok", text, hint))
    return tuple(rows)


def _network(settings: wiring.Settings) -> environment.Fact:
    problem = wiring.network_problem(settings)
    if problem is None:
        return environment.Fact("network", "ok", "proxies and certificates of the environment can be used")
    return environment.Fact("network", "missing", problem, "set it right, or unset it")


def _planes(settings: wiring.Settings) -> tuple[environment.Fact, ...]:
    found = [
        environment.Fact(
            name=f"control plane {one.identity.ref}",
            status="ok",
            text=str(one.root) if one.node is None else f"{one.root}, with Node.js {one.node_version}",
            hint="",
        )
        for one in provision.installed(settings.home)
    ]
    found += [
        environment.Fact(
            name=f"control plane {ref}",
            status="missing",
            text=f"damaged: {problems[0]}",
            hint=f"harness plane install {ref}",
        )
        for ref, problems in provision.damaged(settings.home).items()
    ]
    own = [
        environment.Fact(
            name=f"control plane {one.ref}", status="ok", text=f"part of harness, version {one.version}", hint=""
        )
        for one in built_in_identities()
    ]
    missing = environment.Fact(
        name="control plane", status="missing", text="none is installed", hint="harness plane install loopx==0.4.8"
    )
    return (*own, *(found or [missing]))


def _found(text: str, hint: str) -> str:
    return f"{text}; {hint}" if hint else text
