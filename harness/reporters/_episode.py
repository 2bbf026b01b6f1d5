"""One episode in words: everything its receipt and its run log hold."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from harness.reporters._console import indented, paper, unbroken, whole, written_on
from harness.reporters._evidence import ending, evidence, told
from harness.reporters._rows import Episode, episodes, plain
from harness.reporters._shape import shape
from harness.reporters._stale import to_do
from harness.schema.actor import ActorKind
from harness.schema.counting import counted, worded
from harness.schema.message import known_count
from harness.schema.observation import ChannelName
from harness.schema.receipt import Receipt, Step
from harness.schema.recording import Drift
from harness.schema.run import AttemptRow, RunLogEntry, RunView

__all__ = ["tell"]

#: Where the answers come from of whoever is no model, and what an answer is called.
_NOBODY_ASKED: dict[ActorKind, str] = {"recorded": "the recorded replies were played", "script": "a script was played"}
#: What becomes of a part of a bounded channel.
_BOUNDED: dict[ChannelName, str] = {
    "stdout": "standard output: kept",
    "stderr": "standard error: kept",
    "result": "results: shown",
    "error": "errors: shown",
    "context": "requests: sent",
}
_ATTEMPTS: dict[ActorKind, str] = {"live": "model call", "recorded": "replayed", "script": "scripted"}


def tell(
    view: RunView,
    number: int,
    *,
    width: int,
    color: bool,
    recording: str,
    again: str | None,
    drifts: tuple[Drift, ...] = (),
    asks: str | None = None,
    to_type: Sequence[str] = (),
) -> str:
    """The episode with that number (from 1, in plan order) in ``width`` columns, without a final newline.

    ``recording`` says where what was said is kept, or why it is not; ``again`` is the command that shows it.
    ``drifts`` are told instead of those of the receipt, which hold no words. Of one that waits for a person ``asks`` is
    what it asks, and ``to_type`` the command that goes on with it, and what else there is to choose.
    """
    console = paper(width, color=color)
    row = episodes(view)[number - 1]
    receipt = row.receipt
    console.print(Text(plain(f"{number}. {receipt.scenario}, {row.player}"), style="bold", overflow="fold"))
    _proof(console, row)
    _waits(console, asks, to_type)
    _findings(console, row, drifts)
    _steps(console, receipt)
    _boundary(console, receipt)
    if row.log is not None:
        _log(console, row.log, receipt.actor.kind)
    _head(console, "Recording")
    for line in filter(None, (recording, again)):
        whole(console, Text(f"   {plain(line)}"))
    return written_on(console)


def _head(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _fact(console: Console, name: str, text: str) -> None:
    indented(console, f"{name:<16}{text}", 3)


def _proof(console: Console, row: Episode) -> None:
    receipt = row.receipt
    counters = receipt.counters
    code = f": {receipt.failure_code}" if receipt.failure_code else ""
    cause = f", cause: {receipt.cause.replace('_', ' ')}" if receipt.cause else ""
    _fact(console, "what it proves", f"{row.word}{code}{cause}")
    _fact(console, "how it stopped", ending(receipt))
    _fact(console, "facts", ", ".join(receipt.facts) or "none")
    turns, calls = counted(counters.model_turns, "turn"), counted(counters.tool_calls, "tool call")
    idle = counters.tool_calls - counters.executed_calls
    _fact(console, "counts", f"{turns}, {calls}: {counters.executed_calls} ran, {idle} did not run")
    odd = [f"turn {turn.turn}: {', '.join(turn.quirks).replace('_', ' ')}" for turn in receipt.turns if turn.quirks]
    if odd:
        _fact(console, "odd answers", "; ".join(odd))
    _fact(console, "control plane", receipt.plane.ref)


def _waits(console: Console, asks: str | None, to_type: Sequence[str]) -> None:
    if asks is None and not to_type:
        return
    _head(console, "Waits for you")
    if asks is not None:
        indented(console, asks, 3)
    command, *others = to_type
    whole(console, Text(f"   {plain(command)}"))
    for line in others:
        indented(console, line, 3)


def _findings(console: Console, row: Episode, drifts: tuple[Drift, ...]) -> None:
    pieces = told(row, drifts)
    if not pieces:
        return
    _head(console, "Findings")
    for piece in pieces:
        first, *rest = evidence(piece)
        unbroken(console, first, 3)
        for line in rest:
            unbroken(console, line, 6)
    for line in to_do([row]):
        indented(console, "to record anew:", 3)
        whole(console, Text(f"      {plain(line)}"))


def _steps(console: Console, receipt: Receipt) -> None:
    _head(console, "Steps")
    if not receipt.steps:
        indented(console, "no call", 3)
    for step in receipt.steps:
        code = f" ✗ {step.code}" if step.code else ""
        indented(console, f"{step.ordinal}. {step.kind or 'no kind'}{code}", 3, "red" if step.code else "")
        indented(console, _step(step), 6)


def _step(step: Step) -> str:
    """What became of a call, and how it looked."""
    refused = f", {step.refused.replace('_', ' ')}" if step.refused else ""
    parts = [
        f"turn {step.turn}, {step.tool}",
        f"{'ran' if step.executed else 'did not run'}{refused}",
        f"result {step.result.replace('_', ' ')}",
        f"sets {', '.join(step.sets)}" if step.sets else "",
        shape(step.shape),
    ]
    return "; ".join(part for part in parts if part)


def _boundary(console: Console, receipt: Receipt) -> None:
    boundary = receipt.boundary
    _head(console, "Boundary")
    if not boundary.measured:
        indented(console, "not measured", 3)
    elif not boundary.changes:
        indented(console, "measured before and after: nothing in the workspace changed", 3)
    for change in sorted(boundary.changes, key=lambda one: one.allowed):
        allowed = "allowed" if change.allowed else "✗ not allowed"
        indented(console, f"{allowed}: {change.path} {change.change} by {change.by.replace('_', ' ')}", 3)


def _log(console: Console, log: RunLogEntry, kind: ActorKind) -> None:
    _head(console, "Run log")
    calls = counted(log.plane_calls, "control-plane call")
    indented(console, f"{log.started_at}, {log.seconds:.2f} s, {log.executor}", 3)
    indented(console, f"{calls}, {log.plane_seconds:.2f} s", 3)
    if kind in _NOBODY_ASKED and log.attempts:
        indented(console, f"no model was asked: {_NOBODY_ASKED[kind]}", 3)
    for attempt in log.attempts:
        indented(console, _attempt(attempt, kind), 3)
    if log.shadow_checks:
        indented(console, f"repeated cold: {log.shadow_checks}, other answers: {log.shadow_differences}", 3)
    for name, channel in log.channels.items():
        if channel.truncated:
            unit = "characters" if channel.unit == "chars" else channel.unit
            indented(console, f"{_BOUNDED[name]} {channel.retained:,} of {channel.seen:,} {unit}", 3)
    if log.spilled:
        indented(console, f"{counted(log.spilled, 'result')} kept whole in the workspace", 3)
    if log.workspace is not None:
        whole(console, Text(f"   workspace kept: {plain(log.workspace)}"))


def _attempt(row: AttemptRow, kind: ActorKind) -> str:
    usage = row.usage
    tokens = [
        ("in", None if usage is None else known_count(usage.input_tokens)),
        ("out", None if usage is None else known_count(usage.output_tokens)),
    ]
    one, many = ("", "") if kind == "recorded" else (" token", " tokens")
    told = ", ".join(
        f"unknown{many} {way}" if number is None else f"{number:,}{worded(number, one, many)} {way}"
        for way, number in tokens
    )
    parts = [
        f"{row.status.replace('_', ' ')}, {row.seconds:.2f} s",
        f"recorded tokens: {told}" if kind == "recorded" else told,
        row.error or "",
        "" if row.http_status is None else f"HTTP {row.http_status}",
        row.model or "",
    ]
    what = _ATTEMPTS[kind]
    return f"{what} {row.operation}, attempt {row.attempt}: {', '.join(part for part in parts if part)}"
