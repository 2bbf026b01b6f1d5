"""``harness wire``: the wire between harness and providers."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import click

from harness import catalog, rehearsal, wiring
from harness.cli.exit_codes import ExitCode
from harness.cli.lazy import LazyGroup
from harness.cli.output import say_json
from harness.cli.selection import choose
from harness.errors import ConfigError, UsageError
from harness.schema.limits import COUNT_MAX
from harness.schema.rehearsal import FaultKind, FaultSpec, PolicyFile
from harness.schema.scenario import LoadedScenario

__all__ = ["rehearse", "wire"]

_EPILOG = """\b
Examples:
  harness wire rehearse
  harness wire rehearse loopx/selected-todo --pass-rate 0.9 --seed 7
  harness wire rehearse --pass-rate old=0.9 --pass-rate new=0.7 --port 8123
  harness wire rehearse --policies mine.toml --fault reset=0.1 --log log.jsonl

\b
Then, elsewhere, with the url that is printed:
  harness run --actor openai-compatible/good@URL --yes-spend
  harness run --actor anthropic/good@URL_WITHOUT_V1 --yes-spend
"""
_MODEL = "rehearsal"
_FAULTS: dict[str, FaultKind] = {kind: kind for kind in get_args(FaultKind) if kind != "status"}
_STATUSES = range(400, 600)


@click.command(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("selection", nargs=-1, metavar="[SCENARIO|GLOB|tag:TAG]...")
@click.option("--policies", type=click.Path(path_type=Path), help="Policy file.  [default: good, hasty, wanderer]")
@click.option(
    "--pass-rate",
    "rates",
    multiple=True,
    metavar="[MODEL=]RATE",
    help=f"A model that plays the reference so often (0 to 1), else a wrong script; its name is {_MODEL!r} if none "
    "is given; repeatable.",
)
@click.option(
    "--seed", type=click.IntRange(-COUNT_MAX, COUNT_MAX), default=0, show_default=True, help="What all draws come from."
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="KIND=RATE",
    help=f"A fault of all models: {', '.join(_FAULTS)}, or an HTTP status; repeatable.",
)
@click.option("--latency-ms", metavar="MS[-MS]", help="Latency of all models: fixed, or uniform between two numbers.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on loopback.  [default: any]")
@click.option("--log", type=click.Path(dir_okay=False, path_type=Path), help="File to append a JSON line a call to.")
def rehearse(
    *,
    selection: tuple[str, ...],
    policies: Path | None,
    rates: tuple[str, ...],
    seed: int,
    faults: tuple[str, ...],
    latency_ms: str | None,
    port: int,
    log: Path | None,
) -> ExitCode:
    """Serve a simulated provider on loopback that plays scripts of scenarios (default: all) as models.

    Prints one JSON line with its url, those of all dialects, and its models, and serves until Ctrl-C or SIGTERM. What
    it answers depends on the seed, the scenario, the trial, the turn and the attempt only.
    """
    if policies is not None and rates:
        raise UsageError("--policies and --pass-rate both say what is played; give one of them")
    chosen = choose(wiring.settings(), selection)
    file = _file(chosen, policies, rates)
    file = _everywhere(file, tuple(_fault(text) for text in faults), _latency(latency_ms))
    codecs = [catalog.module("providers", name).build() for name in catalog.names("providers")]
    try:
        played = rehearsal.Rehearsal([one.scenario for one in chosen], file, seed, *codecs)
    except ConfigError as error:
        raise ConfigError(f"{policies or 'the policies'}: {error}") from None
    ends = {signal.SIGINT, signal.SIGTERM}
    # Blocked before the server's threads start, which inherit it: the signal waits here and interrupts nothing.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        with played.serve(port, log) as serving:
            say_json({"url": serving.url, "urls": {**serving.urls}, "models": list(serving.models)})
            signal.sigwait(ends)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return ExitCode.PASSED


def _file(chosen: Sequence[LoadedScenario], policies: Path | None, rates: Sequence[str]) -> PolicyFile:
    if policies is not None:
        return rehearsal.load(policies)
    if not rates:
        return rehearsal.bundled()
    named = [_rate(text) for text in rates]
    twice = next((name for name, _ in named if [other for other, _ in named].count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--pass-rate: model {twice!r} is given twice")
    return rehearsal.rated([one.scenario for one in chosen], dict(named))


def _rate(text: str) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")
    return (name if equals else _MODEL), _number("--pass-rate", number)


def _fault(text: str) -> FaultSpec:
    name, _, number = text.partition("=")
    rate = _number("--fault", number)
    if not 0 < rate <= 1:
        raise UsageError(f"--fault {name}: the rate must be above 0 and at most 1")
    if name.isascii() and name.isdigit() and len(name) == len("429") and int(name) in _STATUSES:
        return FaultSpec(kind="status", status=int(name), rate=rate)
    if name not in _FAULTS:
        raise UsageError(f"--fault: unknown kind {name!r}; there are: {', '.join(_FAULTS)}, and 400 to 599")
    return FaultSpec(kind=_FAULTS[name], rate=rate)


def _latency(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    low, dash, high = text.partition("-")
    bounds = _number("--latency-ms", low), _number("--latency-ms", high if dash else low)
    if not 0 <= bounds[0] <= bounds[1] <= 600_000:  # noqa: PLR2004  (ten minutes)
        raise UsageError("--latency-ms: must be MS or LOWEST-HIGHEST, at most 600000")
    return bounds


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{option}: {text!r} is no number") from None


def _everywhere(file: PolicyFile, faults: tuple[FaultSpec, ...], latency: tuple[float, float] | None) -> PolicyFile:
    """The policies with faults and latency of the command line in every model."""
    models = {
        name: model.model_copy(
            update={"fault": (*model.fault, *faults), "latency_ms": model.latency_ms if latency is None else latency}
        )
        for name, model in file.model.items()
    }
    policies = {
        name: policy if latency is None else policy.model_copy(update={"latency_ms": None})
        for name, policy in file.policy.items()
    }
    return file.model_copy(update={"model": models, "policy": policies})


wire = LazyGroup(
    "wire",
    {
        "decode": ("harness.cli.wire_decode", "decode", "Explain captured answers of providers."),
        "import": ("harness.cli.wire_import", "import_cassettes", "Turn vcrpy cassettes into recordings."),
        "probe": ("harness.cli.wire_probe", "probe_endpoint", "Send one request to a live model."),
        "rehearse": ("harness.cli.wire", "rehearse", "Serve a simulated provider on loopback."),
    },
    text="Work with the wire between harness and providers.",
    epilog="\b\nExamples:\n  harness wire decode answer.json\n  harness wire rehearse --pass-rate 0.9 --seed 7",
)
