"""``harness doctor``: what is here and what is missing."""

from __future__ import annotations

import shutil
from typing import get_args

import click

from harness import config, environment, provision, wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.options import format_option
from harness.cli.output import say, say_json, table
from harness.clock import SystemClock
from harness.errors import ConfigError, EnvironmentProblem
from harness.schema.base import JsonValue
from harness.schema.confinement import Hold
from harness.wiring.built_in import built_in_identities
from harness.wiring.known_keys import key_variables
from harness.wiring.places import CONFIG
from harness.wiring.quarantine import quarantine
from harness.wiring.sandboxing import measured

__all__ = ["doctor"]

_EPILOG = """\b
Examples:
  harness doctor
  harness doctor --format json
"""


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@format_option("How the facts are printed.")
def doctor(form: str) -> ExitCode:
    """Report python, git, control planes, means of sandboxing, and which API keys are set (by name only).

    Exits 4 where something is missing that a run needs.
    """
    settings = wiring.settings()
    rows = [(fact.name, fact.status, fact.text, fact.hint) for fact in _facts(settings)]
    lacking = [name for name, status, _, _ in rows if status == "missing"]
    if form == "text":
        say(f"missing: {', '.join(lacking)}" if lacking else "everything that a run needs is here")
        say(
            table(("what", "state", "found"), [(name, status, _found(text, hint)) for name, status, text, hint in rows])
        )
    else:
        listed: list[dict[str, JsonValue]] = [
            {"name": name, "status": status, "text": text, "hint": hint} for name, status, text, hint in rows
        ]
        if form == "json":
            say_json({"facts": list(listed)}, indent=2)
        else:
            for row in listed:
                say_json(row)
    return ExitCode.BAD_INPUT if lacking else ExitCode.PASSED


def _facts(settings: wiring.Settings) -> tuple[environment.Fact, ...]:
    variables: tuple[str, ...] = ()
    actors: list[environment.Fact] = []
    try:
        variables = key_variables(settings)
    except ConfigError as error:
        actors.append(environment.Fact("actors", "missing", str(error), "set it right, or leave it out"))
    facts = environment.inspect(settings.environ, shutil.which, key_variables=variables, home=settings.home)
    more = (*_providers(settings), *_quarantine(settings), *_planes(settings))
    return (*facts, *actors, _sandbox(), _network(settings), *more)


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
        told = config.load_providers(settings.cwd / CONFIG)
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
        hint = "is over: it counts again; leave it out, or set a new day" if found.is_over(entry) else ""
        hint = "a week or less is left" if found.is_soon_over(entry) else hint
        hint = "matches no scenario" if entry in nowhere else hint
        name = f"quarantine {entry.told}"
        rows.append(environment.Fact(name, "optional" if hint else "ok", entry.terms, hint))
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
