"""The run as the engineer on call reads it: counts, a row an episode, evidence of failures, where to look next."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.ports import Reporter
from harness.reporters._actors import HEADINGS, actor_rows
from harness.reporters._concluded import concluded
from harness.reporters._console import fits, indented, paper, unbroken, whole, written_on
from harness.reporters._evidence import ending, evidence, told
from harness.reporters._groups import Group, commonest, grouped, rolled
from harness.reporters._rows import (
    Episode,
    counts,
    episodes,
    headline,
    not_run,
    plain,
    planned_trial,
    state,
)
from harness.reporters._spending import cost_line
from harness.reporters._stale import to_do
from harness.reporters._versions_told import tell_versions
from harness.schema.counting import counted
from harness.schema.run import RunView
from harness.schema.verdict import Verdict

__all__ = ["TerminalReporter", "build", "summary"]

#: From this width on, every fact has a column of its own.
_WIDE = 110
#: Up to so many episodes each is told by itself.
_LISTED = 60
#: Up to so many endings of many episodes each is told by itself.
_ENDINGS = 100
#: So many rows are told where there are more, and the evidence of so many endings.
_ROWS, _EVIDENCE = 200, 20
_STALE = "Stale (proves nothing until recorded anew)"
_ASIDE = "In quarantine (shown, not held against the run)"
_TITLES: dict[str, Verdict] = {
    "Failed": "fail",
    _STALE: "not_judged",
    "Not judged (says nothing about the actor)": "not_judged",
    "Pending": "pending",
}
#: Files of a run folder, the first to look at first; the others are for machines, or this text.
_FILES = {
    "report.html": "every step, the drawn rules and the path taken; opens offline",
    "receipts.jsonl": "the evidence, one episode a line, in the order of the plan",
    "run.jsonl": "times, model calls and problems",
}
#: Those of one that did not end, or not yet: receipts and run log are laid out at the end.
_UNFINISHED = {
    "report.html": _FILES["report.html"],
    "episodes.part.jsonl": "what was finished so far, one episode a line",
}
_STYLES: dict[Verdict, str] = {"pass": "green", "fail": "bold red", "not_judged": "yellow", "pending": "cyan"}


class TerminalReporter:
    """The terminal's summary as a file, 100 columns, without colour."""

    name = "terminal"
    filename = "summary.txt"

    def render(self, view: RunView) -> str:
        """The whole file."""
        return summary(view, width=100, color=False) + "\n" + concluded(view, width=100)


def build() -> Reporter:
    """The entry of this file."""
    return TerminalReporter()


def summary(view: RunView, *, width: int, color: bool, folder: str = "", written: Collection[str] = ()) -> str:
    """The run in ``width`` columns (at least 40), without a final newline.

    Long cells fold; what is meant to be copied stays on one line, however long. ``written`` are the names of the
    reports in ``folder``. What did not pass and ended alike is told together, above 60 episodes all that ended alike
    is, and above 100 such endings the commonest are told, with how many others there are: other reports have them all.
    """
    console = paper(width, color=color)
    rows = episodes(view)
    many = len(rows) > _LISTED
    groups = grouped(rows)
    _counts(console, view, rows)
    if rows:
        console.print()
        _tell(console, groups if many else [Group.of((row,)) for row in rows], many=many)
    _actors(console, rows)
    tell_versions(console, view)
    for title, verdict in _TITLES.items():
        stale = title == _STALE
        of_title = [
            group
            for group in groups
            if group.first.receipt.verdict == verdict and group.first.stale == stale and group.first.quarantine is None
        ]
        _problems(console, title, [group for group in of_title if not group.first.followed])
        if stale:
            _to_do(console, rows)
    aside = [group for group in groups if group.first.quarantine is not None and group.first.receipt.verdict != "pass"]
    _problems(console, _ASIDE, [group for group in aside if not group.first.followed])
    _rest(console, view)
    _next(console, view, rows, folder, written)
    return written_on(console)


def _counts(console: Console, view: RunView, rows: tuple[Episode, ...]) -> None:
    found = counts(view)
    total = sum(found.values()) + len(not_run(view))
    good = total > 0 and found["pass"] == total
    console.print(Text(headline(view), style="bold green" if good else "bold red" if found["fail"] else "bold yellow"))
    manifest = view.manifest
    planes = ", ".join(plane.ref for plane in manifest.planes)
    seconds = sum(row.seconds for row in rows)
    told = f"run {manifest.run_id} ({state(view)}), {planes}, {manifest.enforcement.executor}, {seconds:.1f} s"
    console.print(Text(plain(f"{told} in episodes"), style="dim"))
    cost = cost_line(view)
    if cost is not None:
        console.print(Text(cost, style="dim"))


def _tell(console: Console, groups: Sequence[Group], *, many: bool) -> None:
    """A row a group; those that passed are left out first where there are too many."""
    rows = rolled(groups) if len(groups) > _ENDINGS else groups
    shown = rows
    if len(rows) > _ROWS:
        others = [group for group in rows if group.first.receipt.verdict != "pass"]
        shown = commonest(others, _ROWS)
    console.print(_table(shown, width=console.width, many=many))
    if len(shown) < len(rows):
        passed = sum(group.first.receipt.verdict == "pass" for group in rows)
        left_out = len(rows) - len(shown)
        indented(console, f"and {counted(left_out, 'row')} more, {passed} of them of trials that passed", 3)


def _table(groups: Sequence[Group], *, width: int, many: bool) -> Table:
    wide = width >= _WIDE
    table = Table(box=None, show_header=wide, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("times" if many else "", justify="right", no_wrap=True, style="dim")
    table.add_column("verdict", no_wrap=True)
    longest = max(len(group.first.receipt.scenario) for group in groups)
    for at, heading in enumerate(("actor", "code or outcome", "steps") if wide else ("",)):
        # the name of a scenario stands in this column too, and is not broken where there is room
        table.add_column(heading, overflow="fold", min_width=min(longest, width // 2) if wide and not at else None)
    if wide:
        table.add_column("seconds", justify="right", no_wrap=True)
    scenario = ""
    for group in groups:
        receipt = group.first.receipt
        if receipt.scenario != scenario:
            scenario = receipt.scenario
            table.add_row("", "", Text(plain(scenario), style="bold", overflow="fold"))
        number = f"{len(group.rows)} x" if many else f"{group.first.number}."
        actor = _told_once(group.first) if many else group.first.player
        seconds = f"{group.seconds:.2f}"
        verdict = Text(group.first.word, style=_STYLES[receipt.verdict])
        if wide:
            codes = _cell(*(group.codes or (receipt.outcome.name,)))
            table.add_row(number, verdict, _cell(actor), codes, _cell(group.steps), seconds)
        else:
            took = f"{seconds} s each" if len(group.rows) > 1 else f"{seconds} s"
            table.add_row(number, verdict, _cell(f"{actor}, {took}", *group.codes, group.steps))
    return table


def _actors(console: Console, rows: tuple[Episode, ...]) -> None:
    """A row an actor where a terminal is wide enough for it, else a line an actor."""
    told = actor_rows(rows)
    if not told:
        return
    console.print()
    console.print(Text("Live actors", style="bold"))
    table = Table(box=None, show_header=True, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if number else "left", no_wrap=number > 0, overflow="fold")
    for row in told:
        table.add_row(*(_cell(cell) for cell in row.cells))
    if fits(console, [HEADINGS, *(row.cells for row in told)]):
        console.print(table)
        return
    for row in told:
        actor, *cells = row.cells
        named = (f"{cell} {heading}" for cell, heading in zip(cells, HEADINGS[1:], strict=True) if cell)
        indented(console, f"{actor}: {', '.join(named)}", 3)


def _told_once(row: Episode) -> str:
    """The actor of many episodes: no trial of it."""
    return f"{row.who}{row.marks}"


def _cell(*texts: str) -> Text:
    return Text("\n".join(plain(text) for text in texts if text), overflow="fold")


def _problems(console: Console, title: str, groups: Sequence[Group]) -> None:
    if not groups:
        return
    console.print()
    console.print(Text(title, style="bold"))
    shown = groups if len(groups) <= _LISTED else commonest(groups, _EVIDENCE)
    for group in shown:
        receipt = group.first.receipt
        times = "" if len(group.rows) == 1 else f" (the first of {len(group.rows)} that ended so)"
        head = f"{group.first.number}. {receipt.scenario}, {group.first.player}{times}"
        console.print(Text(plain(head), style=_STYLES[receipt.verdict], overflow="fold"))
        cause = f", cause: {receipt.cause}" if receipt.cause else ""
        indented(console, f"{receipt.failure_code or 'no code'} ({ending(receipt)}{cause})", 3)
        if group.first.quarantine is not None:
            indented(console, group.first.quarantine.terms, 3)
        for piece in told(group.first):
            first, *rest = evidence(piece)
            unbroken(console, first, 3)
            for line in rest:
                unbroken(console, line, 6)
        for change in receipt.boundary.changes:
            if not change.allowed:
                indented(console, f"not allowed: {change.path} {change.change} by {change.by.replace('_', ' ')}", 3)
    if len(shown) < len(groups):
        indented(console, f"and {counted(len(groups) - len(shown), 'rarer ending')}: see report.html or junit.xml", 3)


def _to_do(console: Console, rows: Iterable[Episode]) -> None:
    """On a line of its own each: it is meant to be pasted."""
    commands = to_do(rows)
    if commands:
        indented(console, "to record anew what is stale:", 3)
    for line in commands:
        whole(console, Text(f"      {plain(line)}"))


def _rest(console: Console, view: RunView) -> None:
    empty = not_run(view)
    if not empty:
        return
    console.print()
    console.print(Text("Not run", style="bold"))
    for why in view.manifest.stopped:
        indented(console, why, 3, "yellow")
    planned = planned_trial(view)
    for place in empty[:_LISTED]:
        indented(console, f"{place.scenario}, {planned(place)}", 3)
    if len(empty) > _LISTED:
        indented(console, f"and {len(empty) - _LISTED} more", 3)


def _next(console: Console, view: RunView, rows: tuple[Episode, ...], folder: str, written: Collection[str]) -> None:
    """``written`` are the names of reports that are there."""
    console.print()
    if view.manifest.state != "complete":
        how = f"was {state(view)}" if view.killed or view.manifest.state == "interrupted" else "goes on"
        console.print(Text(f"The run {how}: what was finished is kept.", style="bold"))
    whole(console, Text.assemble(("Look next", "bold"), f" in {plain(folder)}" if folder else ""))
    for name, about in (_FILES if view.manifest.state != "running" else _UNFINISHED).items():
        if name.endswith(".jsonl") or name in written:
            indented(console, f"{name:<15} {about}", 3)
    others = [name for name in written if name not in _FILES]
    if others:
        unbroken(console, f"{'also there':<16}{', '.join(others)}", 3, hang=16)
    failed = next((row.receipt for row in rows if row.receipt.verdict == "fail"), None)
    if failed is not None and failed.actor.kind == "script":
        own = next((one.plane for one in view.manifest.scenarios if one.id == failed.scenario), "")
        other = ["--plane", failed.plane.ref] if own not in {"", failed.plane.ref} else []
        told = ["harness", "run", failed.scenario, "--actor", failed.actor.ref, *other, "--keep-workspace"]
        again = shlex.join(told)
        indented(console, "the first failure once more, its workspace kept:", 3)
        whole(console, Text(f"      {plain(again)}"))
