"""``harness scenario``: what there is, what it says, and what it makes of a command."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness import scenario as scenarios
from harness import wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.lazy import LazyGroup
from harness.cli.options import format_option
from harness.cli.output import folded, note, say, say_json, table
from harness.errors import NothingSelectedError, ScenarioError
from harness.schema.base import JsonValue
from harness.schema.packet import Invariant
from harness.schema.rules import KindSpec
from harness.schema.scenario import LoadedScenario, Scenario

__all__ = ["listing", "scenario", "schema", "show"]

_CONTEXT = {"help_option_names": ["-h", "--help"]}


@click.command("list", epilog="\b\nExample:\n  harness scenario list --format jsonl", context_settings=_CONTEXT)
@format_option("How the list is printed.")
def listing(form: str) -> ExitCode:
    """List the scenarios of the search path: ./scenarios, then the bundled ones."""
    settings = wiring.settings()
    rows: list[dict[str, JsonValue]] = []
    broken: list[ScenarioError] = []
    for name in wiring.scenarios(settings):
        try:
            rows.append(_row(wiring.load_scenario(settings, name)))
        except ScenarioError as error:
            broken.append(error)
    if form == "json":
        say_json({"scenarios": [dict(row) for row in rows]}, indent=2)
    elif form == "jsonl":
        for row in rows:
            say_json(row)
    elif rows:
        say(table(("scenario", "plane", "asks"), [(str(r["id"]), str(r["plane"]), str(r["asks"])) for r in rows]))
    for problem in broken:
        note(f"harness: {problem}")
    if broken:
        return ExitCode.BAD_INPUT
    if not rows:
        raise NothingSelectedError(f"no scenario in: {', '.join(str(folder) for folder in settings.search)}")
    return ExitCode.PASSED


@click.command(epilog="\b\nExample:\n  harness scenario show loopx/capability-repair", context_settings=_CONTEXT)
@click.argument("name", metavar="SCENARIO")
@format_option("How the scenario is printed.", "text", "json")
def show(name: str, form: str) -> ExitCode:
    """Tell what a scenario asks, its kinds of calls with their codes, and its scripts."""
    loaded = wiring.load_scenario(wiring.settings(), name)
    if form == "json":
        say_json({"digest": loaded.digest, "scenario": loaded.scenario.model_dump(mode="json")}, indent=2)
    else:
        say(_text(loaded))
    return ExitCode.PASSED


@click.command(epilog="\b\nExample:\n  harness scenario schema > scenario.schema.json", context_settings=_CONTEXT)
def schema() -> ExitCode:
    """Print the JSON Schema of scenario files, for editors."""
    say_json(scenarios.json_schema(), indent=2)
    return ExitCode.PASSED


def _row(loaded: LoadedScenario) -> dict[str, JsonValue]:
    one = loaded.scenario
    return {
        "id": one.id,
        "plane": one.plane,
        "asks": one.asks,
        "tags": list(one.tags),
        "digest": loaded.digest,
        "file": loaded.path,
    }


def _text(loaded: LoadedScenario) -> str:
    one = loaded.scenario
    silence = [
        (" ".join((*rule.has, *(f"no {fact}" for fact in rule.lacks))) or "anything else", rule.code)
        for rule in one.end.silence
    ]
    wrong = [("wrong", f"script:{name}") for name in one.script.wrong]
    passes = f"with the facts {' '.join(one.end.accept)}" if one.end.accept else "by its answer alone"
    right = [("right", f"script:{name}") for name in one.script.right]
    return "\n".join(
        (
            one.id,
            folded(one.asks, "  "),
            f"plane   {one.plane}",
            f"tags    {' '.join(one.tags)}",
            f"file    {loaded.path}",
            f"digest  {loaded.digest}",
            f"passes  {passes}",
            *_listed(
                ("kind", "sets", "codes"),
                [(kind.name, ", ".join(kind.facts) or "-", _codes(kind)) for kind in one.kind],
            ),
            *_listed(("stopping with", "code"), silence),
            *_listed(("packet that breaks", "code"), [(_asked(must), must.code) for must in _musts(one)]),
            *_judges(one),
            *_listed(("script", "--actor"), [("reference", "script"), *right, *wrong]),
        )
    )


def _listed(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """A table with a blank line before it; nothing where it has no rows."""
    return ("", table(head, rows)) if rows else ()


def _musts(one: Scenario) -> tuple[Invariant, ...]:
    return () if one.packet is None else one.packet.must


def _asked(must: Invariant) -> str:
    """The places that an invariant looks at."""
    return " ".join((*must.holds, *must.there, *must.counts))


def _judges(scenario: Scenario) -> tuple[str, ...]:
    """Its classifiers with their codes, where it names any."""
    rows = [(spec.by, spec.when, ", ".join((spec.code, *spec.codes.values()))) for spec in scenario.classify]
    return _listed(("classifier", "asked when", "codes"), rows)


def _codes(kind: KindSpec) -> str:
    codes = (kind.fatal, kind.once, *kind.never.values(), *kind.needs.values(), kind.failed)
    return " ".join(dict.fromkeys(code for code in codes if code is not None)) or "-"


scenario = LazyGroup(
    "scenario",
    {
        "list": ("harness.cli.scenario", "listing", "List scenarios."),
        "show": ("harness.cli.scenario", "show", "Tell what a scenario asks, its kinds, codes and scripts."),
        "classify": ("harness.cli.classify", "classify", "Tell what a scenario makes of commands; runs none."),
        "schema": ("harness.cli.scenario", "schema", "Print the JSON Schema of scenario files."),
    },
    text="List, show, classify with, and describe scenarios.",
    epilog="\b\nExample:\n  harness scenario classify loopx/selected-todo 'date -u' 'rm -rf /'",
)
