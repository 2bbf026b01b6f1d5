"""The entry point: which verbs there are, and what every ending means to the shell."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType

import click

from harness import __version__
from harness.cli.exit_codes import ExitCode
from harness.cli.lazy import LazyGroup
from harness.cli.refusals import refuse_nul, refused_by_machine
from harness.errors import HarnessError

__all__ = ["main"]

_VERBS = {
    "run": ("harness.cli.run", "run", "Play scenarios with an actor and write receipts."),
    "check": ("harness.cli.check", "check", "Hold scenarios against their own scripts; no model."),
    "record": ("harness.cli.record", "record", "Record live models for offline replay."),
    "qualify": ("harness.cli.qualify", "qualify", "Tell how often actors pass, and how sure that is."),
    "compare": ("harness.cli.compare", "command", "Hold models against each other: who passes more often."),
    "report": ("harness.cli.report", "report", "Render the reports of a run folder again."),
    "show": ("harness.cli.show", "show", "Tell one episode in words, or what was said in it."),
    "verify": ("harness.cli.verify", "verify", "Tell whether a run is still what was written."),
    "scenario": ("harness.cli.scenario", "scenario", "List, show, classify with, and describe scenarios."),
    "history": ("harness.cli.history", "history", "Work with what earlier runs left."),
    "plane": ("harness.cli.plane", "plane", "Install, list and verify control planes."),
    "wire": ("harness.cli.wire", "wire", "Work with the wire between harness and providers."),
    "doctor": ("harness.cli.doctor", "doctor", "Tell what is here and what is missing."),
}

_TEXT = """Tell, with evidence, whether a language model still behaves when it drives a real control plane."""

_EPILOG = """\b
Examples:
  harness plane install loopx==0.4.8
  harness run
  harness run loopx/capability-repair --actor openai/MODEL --yes-spend

\b
Exit codes:
  0 passed               1 judged and failed    2 not judged
  3 pending              4 bad input or usage   5 nothing selected
  6 drift                7 not enough evidence
  70 a bug of harness    130 interrupted
"""


@dataclass(slots=True)
class _Session:
    """What a crash report needs to know: whether its author asked for frames."""

    debug: bool = False


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    del param
    if value and not ctx.resilient_parsing:
        click.echo(f"harness {__version__}")
        ctx.exit()


def _note_debug(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    del param
    if isinstance(ctx.obj, _Session):
        ctx.obj.debug = value
    return value


def _top() -> LazyGroup:
    return LazyGroup(
        "harness",
        _VERBS,
        first=_sweep,
        prepare=_configured,
        text=_TEXT,
        epilog=_EPILOG,
        params=[
            click.Option(
                ["--version"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=_show_version,
                help="Show the version and exit.",
            ),
            click.Option(
                ["--debug"],
                is_flag=True,
                expose_value=False,
                hidden=True,
                envvar="HARNESS_DEBUG",
                callback=_note_debug,
            ),
        ],
    )


def _sweep() -> None:
    """Every start of a verb removes what a killed one left; where nothing can be looked at, the verb will say so."""
    workspace = importlib.import_module("harness.workspace")
    with contextlib.suppress(HarnessError):
        workspace.sweep()


def _configured(verb: click.Command) -> click.Command:
    """A verb whose options the environment and a file may set, too: what reads those is imported with the verb."""
    prepared: click.Command = importlib.import_module("harness.cli.configured").configured(verb)
    return prepared


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: this process's) and return its exit code; nothing is raised.

    Whatever goes wrong is one line on standard error. ``HARNESS_DEBUG=1`` adds the frames of a bug: places only,
    no message and no value, for both may hold what must not be shown.
    """
    session = _Session()
    heard = threading.Event()
    with _terminable(heard):
        try:
            given = sys.argv[1:] if argv is None else list(argv)
            refuse_nul(given)
            returned = _invoke(given, session)
            _flush()
        except (click.exceptions.Abort, KeyboardInterrupt):
            return _complain("interrupted", ExitCode.INTERRUPTED)
        except Exception as error:  # noqa: BLE001  (the last handler: no user is ever shown a traceback)
            if heard.is_set() and not isinstance(error, HarnessError | click.ClickException):
                return _complain("interrupted", ExitCode.INTERRUPTED)
            return _told(error, debug=session.debug)
    return returned


def _told(error: Exception, *, debug: bool) -> int:
    match error:
        case click.ClickException():
            return _complain(_usage_line(error), ExitCode.BAD_INPUT)
        case HarnessError():
            return _complain("; ".join((str(error), *getattr(error, "__notes__", ()))), error.exit_code)
        case BrokenPipeError():
            _abandon_stdout()
            return ExitCode.PASSED
        case OSError() if (problem := refused_by_machine(error)) is not None:
            _abandon_stdout()
            return _complain(str(problem), problem.exit_code)
        case _:
            return _report_bug(error, debug=debug)


def _invoke(argv: list[str], session: _Session) -> int:
    """What the verb returned. Not click's own ``main``: it prints, swallows and exits in ways of its own."""
    group = _top()
    try:
        with group.make_context("harness", argv, obj=session) as context:
            returned = group.invoke(context)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    return returned if isinstance(returned, int) else ExitCode.PASSED


def _usage_line(error: click.ClickException) -> str:
    configured = importlib.import_module("harness.cli.configured")
    elsewhere: str | None = configured.refused(error)
    if elsewhere is not None:
        return " ".join(elsewhere.split())
    message: str = configured.plainly(" ".join(error.format_message().split()).rstrip("."))
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message}; see: {context.command_path} --help" if context is not None else message


def _complain(line: str, code: int) -> int:
    """Whoever reads it sees no key that was given where a name belongs, and no terminal is acted on."""
    line = importlib.import_module("harness.redaction").without_credentials(line)
    line = importlib.import_module("harness.cli.output").harmless(line)
    with contextlib.suppress(OSError, ValueError):
        click.echo(f"harness: {' '.join(line.splitlines())}", err=True)
    return code


def _report_bug(error: Exception, *, debug: bool) -> int:
    places = list(_places(error.__traceback__))
    where = f" at {places[-1]}" if places else ""
    advice = "" if debug else "; HARNESS_DEBUG=1 shows the frames"
    code = _complain(f"a bug of harness: {type(error).__name__}{where}{advice}", ExitCode.BUG)
    for place in places if debug else ():
        _complain(f"  {place}", code)
    return code


def _places(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        code = trace.tb_frame.f_code
        yield f"{Path(code.co_filename).name}:{trace.tb_lineno} in {code.co_name}"
        trace = trace.tb_next


def _flush() -> None:
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()


def _abandon_stdout() -> None:
    """Let the interpreter's own last flush go nowhere, for nobody reads it."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _terminable(heard: threading.Event) -> Iterator[None]:
    """SIGTERM ends a command like Ctrl-C does: what was made is removed, what was finished is kept.

    That one of them was ``heard`` is noted: compiled code that it interrupts may make another error of it. A Ctrl-C
    that is to be ignored stays so.
    """

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        heard.set()
        raise KeyboardInterrupt

    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    numbers = (signal.SIGTERM,) if ignored else (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
