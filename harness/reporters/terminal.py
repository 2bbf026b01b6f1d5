"""The run as the engineer on call reads it: counts, a row an episode, evidence of failures, where to look next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from io import StringIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.ports import Reporter
from harness.reporters._rows import (
    VERDICT_WORDS,
    Episode,
    counts,
    episodes,
    evidence,
    headline,
    not_run,
    plain,
    steps_in_short,
)
from harness.schema.run import RunView
from harness.schema.verdict import Verdict

__all__ = ["TerminalReporter", "build", "summary"]

#: From this width on, every fact has a column of its own.
_WIDE = 110
_STYLES: dict[Verdict, str] = {"pass": "green", "fail": "bold red", "not_judged": "yellow", "pending": "cyan"}
_NARROWEST = 40


class TerminalReporter:
    """The terminal's summary as a file, 100 columns, without colour."""

    name = "terminal"
    filename = "summary.txt"

    def render(self, view: RunView) -> str:
        """The whole file."""
        return summary(view, width=100, color=False) + "\n"


def build() -> Reporter:
    """The entry of this file."""
    return TerminalReporter()


def summary(view: RunView, *, width: int, color: bool) -> str:
    """The run in ``width`` columns (at least 40); nothing is cut off, long cells fold. Without a final newline."""
    out = StringIO()
    console = Console(
        file=out,
        width=max(width, _NARROWEST),
        height=25,  # with a height of its own it asks neither terminal nor environment for a size
        color_system="standard" if color else None,
        force_terminal=color,
        no_color=not color,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    rows = episodes(view)
    _counts(console, view, rows)
    if rows:
        console.print()
        console.print(_wide(rows) if console.width >= _WIDE else _narrow(rows))
    _problems(console, "Failed", [row for row in rows if row.receipt.verdict == "fail"])
    _problems(console, "Not judged (says nothing about the actor)", _of(rows, "not_judged"))
    _problems(console, "Pending", _of(rows, "pending"))
    _rest(console, view)
    _next(console, view, rows)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def _of(rows: Iterable[Episode], verdict: Verdict) -> list[Episode]:
    return [row for row in rows if row.receipt.verdict == verdict]


def _counts(console: Console, view: RunView, rows: tuple[Episode, ...]) -> None:
    found = counts(view)
    total = sum(found.values()) + len(not_run(view))
    good = total > 0 and found["pass"] == total
    console.print(Text(headline(view), style="bold green" if good else "bold red" if found["fail"] else "bold yellow"))
    manifest = view.manifest
    planes = ", ".join(plane.ref for plane in manifest.planes)
    seconds = sum(row.seconds for row in rows)
    told = f"run {manifest.run_id} ({manifest.state}), {planes}, {manifest.enforcement.executor}, {seconds:.1f} s"
    console.print(Text(plain(f"{told} in episodes"), style="dim"))


def _wide(rows: Iterable[Episode]) -> Table:
    table = Table(show_edge=False, pad_edge=False, header_style="bold", show_lines=True)
    table.add_column("verdict", no_wrap=True)
    for heading in ("scenario, actor", "code, outcome", "steps"):
        table.add_column(heading, overflow="fold")
    table.add_column("seconds", justify="right", no_wrap=True)
    for row in rows:
        receipt = row.receipt
        table.add_row(
            _verdict(row),
            _stacked(receipt.scenario, row.actor),
            _stacked(receipt.failure_code or "", receipt.outcome.name),
            _stacked(steps_in_short(receipt)),
            f"{row.seconds:.2f}",
        )
    return table


def _narrow(rows: Iterable[Episode]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        receipt = row.receipt
        outcome = receipt.outcome.name
        table.add_row(
            _verdict(row),
            _stacked(
                receipt.scenario,
                f"{row.actor}, {row.seconds:.2f} s",
                f"{receipt.failure_code} ({outcome})" if receipt.failure_code else outcome,
                steps_in_short(receipt),
            ),
        )
    return table


def _stacked(*texts: str) -> Text:
    return Text("\n".join(plain(text) for text in texts if text), overflow="fold")


def _verdict(row: Episode) -> Text:
    verdict = row.receipt.verdict
    return Text(VERDICT_WORDS[verdict], style=_STYLES[verdict])


def _problems(console: Console, title: str, rows: list[Episode]) -> None:
    if not rows:
        return
    console.print()
    console.print(Text(title, style="bold"))
    for row in rows:
        receipt = row.receipt
        cause = f", cause: {receipt.cause}" if receipt.cause else ""
        console.print(Text(plain(f"{row.number}. {receipt.scenario}, {row.actor}"), style=_STYLES[receipt.verdict]))
        _indented(console, f"{receipt.failure_code or 'no code'} ({receipt.outcome.name}{cause})", 3)
        if row.log is not None and row.log.problem:
            _indented(console, row.log.problem, 3)
        for finding in receipt.findings:
            first, *rest = evidence(receipt, finding)
            _indented(console, first, 3)
            for line in rest:
                _indented(console, line, 6)
        for change in receipt.boundary.changes:
            if not change.allowed:
                _indented(console, f"not allowed: {change.path} {change.change} by {change.by.replace('_', ' ')}", 3)


def _rest(console: Console, view: RunView) -> None:
    empty = not_run(view)
    if not empty:
        return
    console.print()
    console.print(Text("Not run", style="bold"))
    for place in empty:
        _indented(console, f"{place.scenario}, {place.actor}, trial {place.trial}", 3)


def _next(console: Console, view: RunView, rows: tuple[Episode, ...]) -> None:
    console.print()
    console.print(Text("Look next", style="bold"))
    _indented(console, "report.html     every step, the drawn rules and the path taken; opens offline", 3)
    _indented(console, "receipts.jsonl  the evidence, one episode a line, in the order of the plan", 3)
    _indented(console, "run.jsonl       times, calls and problems; junit.xml is for the build server", 3)
    failed = next((row.receipt for row in rows if row.receipt.verdict == "fail"), None)
    if failed is not None and failed.actor.kind == "script":
        again = shlex.join(["harness", "run", failed.scenario, "--actor", failed.actor.ref, "--keep-workspace"])
        _indented(console, "the first failure once more, its workspace kept:", 3)
        _indented(console, again, 6)
    if view.manifest.state != "complete":
        _indented(console, f"the run is {view.manifest.state}: what was finished is kept", 3)


def _indented(console: Console, text: str, columns: int) -> None:
    console.print(Padding(Text(plain(text), overflow="fold"), (0, 0, 0, columns)))
