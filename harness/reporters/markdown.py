"""Markdown for the page of a pull request or of a build: verdicts, failures with their evidence, what drifted.

Texts stand in it as code, so nothing in them is taken for markup, and never as a link or a mention.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from harness.ports import Reporter
from harness.qualification.intervals import ends
from harness.qualification.not_needed import told_early
from harness.reporters._actors import HEADINGS, ActorRow, actor_rows
from harness.reporters._evidence import ending, evidence, told
from harness.reporters._rates import Rate, Rates, rates, worst_first
from harness.reporters._rows import (
    Alike,
    Episode,
    alike,
    episodes,
    headline,
    not_run,
    plain,
    planned_trial,
    state,
    steps_in_short,
)
from harness.reporters._spending import cost_line
from harness.reporters._stale import proves_nothing, stale_rows, to_do
from harness.reporters._versions import Cell, Matrix, matrices
from harness.schema.counting import counted, worded
from harness.schema.decision import Answer, DecisionTold
from harness.schema.run import RunView
from harness.schema.verdict import Verdict

__all__ = ["MarkdownReporter", "build"]

#: GitHub takes a summary of 1 MiB.
_SIZE_MAX: Final = 900_000
#: So many changes between versions are told one by one.
_CHANGES: Final = 200
_MARKS: dict[str, str] = {"pass": "✅", "fail": "❌", "not_judged": "⚠️", "pending": "⏳"}
_DECIDED: dict[Answer, str] = {"pass": "✅", "fail": "❌", "inconclusive": "❔", "not_judged": "⚠️"}
#: Labels of sentences with texts that others chose: the folder of a baseline, what a provider calls a model, a reason.
_OF_OTHERS: Final = frozenset({"baseline", "model", "set aside"})
_ORDER: tuple[Verdict, ...] = ("fail", "not_judged", "pending", "pass")


class MarkdownReporter:
    """One Markdown file, at most 900,000 bytes: what does not fit is counted."""

    name = "markdown"
    filename = "summary.md"

    def render(self, view: RunView) -> str:
        """The whole file."""
        in_order = episodes(view)
        rows = sorted(in_order, key=lambda row: _ORDER.index(row.receipt.verdict))
        manifest = view.manifest
        planes = ", ".join(_code(plane.ref) for plane in manifest.planes)
        parts = [f"## harness: {headline(view)}\n\n{_code(manifest.run_id)}, {state(view)}, {planes}\n"]
        cost = cost_line(view)
        parts += [] if cost is None else [f"{cost}\n"]
        parts += [f"not run: {plain(why)}\n" for why in manifest.stopped]
        parts += _early(view)
        parts += [_decision(one) for one in view.decisions]
        actors = actor_rows(in_order)
        parts += [_actors(actors)] if actors else []
        found = rates(in_order)
        parts += _fitting(_rates_head(found), _rates_rows(found), "scenarios", _SIZE_MAX // 4) if found.shown else []
        parts += [_versions(matrix) for matrix in matrices(view)]
        parts += _stale(rows)
        room = _SIZE_MAX - sum(len(part.encode()) for part in parts)
        failed = alike(rows)
        table = [_row(some.first, some) for some in failed]
        # of many trials those that passed are counted above, one by one they say nothing
        trials = Counter((row.receipt.scenario, row.who) for row in rows if not row.followed)
        table += [
            _row(row)
            for row in rows
            if row.followed or (row.receipt.verdict == "pass" and trials[row.receipt.scenario, row.who] == 1)
        ]
        planned = planned_trial(view)
        empty = ((_code(place.scenario), _code(planned(place))) for place in not_run(view))
        table += [_cells("not run", *cells, "", "") for cells in empty]
        problems = [_problem(some) for some in failed]
        # the table says less of more episodes: it may use half of what there is
        parts += _fitting(_TABLE_HEAD, table, "episodes", room // 2) if table else []
        room = _SIZE_MAX - sum(len(part.encode()) for part in parts)
        parts += _fitting("", problems, "episodes that did not pass", room)
        return "\n".join(parts)


_BAR: Final = "\\|"
_TABLE_HEAD: Final = "| verdict | scenario | actor | code | steps |\n|---|---|---|---|---|\n"


def build() -> Reporter:
    """The entry of this file."""
    return MarkdownReporter()


def _fitting(head: str, pieces: Iterable[str], what: str, room: int) -> list[str]:
    """The head and as many pieces as there is room for, and how many are left out."""
    kept, left_out = [head], 0
    room -= len(head.encode()) + 200
    for piece in pieces:
        size = len(piece.encode())
        if left_out or size > room:
            left_out += 1
        else:
            room -= size
            kept.append(piece)
    told = [f"{left_out} more {what}: see the run folder.\n"] if left_out else []
    return ["".join(kept), *told] if any(kept) or told else []


def _early(view: RunView) -> list[str]:
    """Who was found to be better, after how many trials, and what that saved."""
    told = told_early(view)
    return ["".join(f"- {_code(line)}\n" for line in told)] if told else []


def _decision(one: DecisionTold) -> str:
    """What a policy says of an actor, and what that rests on."""
    label, lines = "", ""
    for own, said in one.sentences:
        label = own or label
        lines += f"- {label}: {_code(said) if label in _OF_OTHERS else plain(said)}\n"
    return f"### {_DECIDED[one.answer]} {_code(one.who)}: {one.word} by {_code(one.policy)}\n\n{lines}"


def _stale(rows: Iterable[Episode]) -> list[str]:
    """What stale recordings say, and what to do about them."""
    stale = stale_rows(rows)
    if not stale:
        return []
    head = f"{_MARKS['not_judged']} {counted(len(stale), 'recording')} no longer fit"
    lines = [f"{head}{worded(len(stale), 's', '')}: {proves_nothing(len(stale))}."]
    commands = to_do(stale)
    if commands:
        lines += ["", "To record anew what is stale:", "", *(f"    {plain(line)}" for line in commands)]
    return ["\n".join(lines) + "\n"]


def _actors(rows: Iterable[ActorRow]) -> str:
    """A table with a row for each live actor."""
    head = f"| {' | '.join(HEADINGS)} |\n|---|{'---:|' * (len(HEADINGS) - 1)}\n"
    return head + "".join(_cells(_code(row.actor), *row.cells[1:]) for row in rows)


def _rates_head(found: Rates) -> str:
    names = map(_code, found.columns) if found.crossed else ("passed",)
    said = "Passed of the trials that were judged, and between what the true rate lies.\n\n"
    return f"{said}{_cells('scenario', *names)}|---|{'---|' * len(found.columns)}\n"


def _rates_rows(found: Rates) -> Iterator[str]:
    """All together first, then scenarios, those that passed the least first."""
    if found.total is not None:
        yield _cells("all scenarios", *map(_rate, found.total.cells))
    for row in worst_first(found.rows):
        yield _cells(_code(row.name), *map(_rate, row.cells))


def _rate(cell: Rate | None) -> str:
    """``9/10, 59-99 %``: passed, of how many, and between what the true rate lies; then what was not judged."""
    if cell is None:
        return ""
    if cell.word:
        mark = _MARKS.get(cell.verdict, "")
        return f"{mark} {cell.word}"
    others = f", {cell.others} not judged" if cell.others else ""
    if not cell.n:
        return f"0/0{others}"
    low, high = ends(cell.interval)
    return f"{cell.passes}/{cell.n}, {low}-{high} %{others}"


def _versions(matrix: Matrix) -> str:
    """A table with a column for each version, then what changed with which, and who moved."""
    head = f"{_cells(matrix.plane, *map(_code, matrix.versions))}|---|{'---|' * len(matrix.versions)}\n"
    rows = (_cells(_code(row.name), *(_cell(cell) for cell in row.cells)) for row in matrix.rows)
    changes = (
        f"- {_code(row.name)}: {_code(one.now.version)} {one.now.told}, {_code(one.before.version)} {one.before.told}: "
        f"{one.why}\n"
        for row, one in matrix.changes[:_CHANGES]
    )
    more = len(matrix.changes) - _CHANGES
    rest = f"- and {more} more\n" if more > 0 else ""
    plain_words = f"\n{matrix.plain}\n" if matrix.plain else ""
    return f"### Versions of {matrix.plane}\n\n{head}{''.join(rows)}\n{''.join(changes)}{rest}{plain_words}"


def _cell(cell: Cell) -> str:
    codes = ", ".join(map(_code, cell.codes))
    return f"{'≠ ' if cell.changed else ''}{cell.word}{f' {codes}' if codes else ''}"


def _row(row: Episode, some: Alike | None = None) -> str:
    """One episode, or all of ``some`` that ended as it did."""
    receipt = row.receipt
    verdict = f"{_MARKS[receipt.verdict]} {row.word}{some.times if some else ''}"
    code = _code(receipt.failure_code) if receipt.failure_code else ""
    player = f"{row.who}{row.marks}" if some and some.count > 1 else row.player
    steps = f"{'first: ' if some and some.count > 1 else ''}{_code(steps_in_short(receipt))}"
    return _cells(verdict, _code(receipt.scenario), _code(player), code, steps)


def _cells(*texts: str) -> str:
    """A row of a table; a bar, which would end a cell even in code, is escaped."""
    return f"| {' | '.join(text.replace('|', _BAR) for text in texts)} |\n"


def _problem(some: Alike) -> str:
    """The first of them, with its evidence."""
    row = some.first
    receipt = row.receipt
    cause = f", cause: {receipt.cause.replace('_', ' ')}" if receipt.cause else ""
    head = f"{_MARKS[receipt.verdict]} {row.number}. {_code(receipt.scenario)}, {_code(row.player)}"
    head += f"; {some.count} of {some.trials} trials ended with this code, it is the first" if some.count > 1 else ""
    lines = [f"{receipt.failure_code or 'no code'} ({ending(receipt)}{cause})"]
    lines += [] if row.quarantine is None else [f"in quarantine {row.quarantine.terms}"]
    for piece in told(row):
        first, *rest = evidence(piece)
        lines += [first, *(f"    {line}" for line in rest)]
    lines += [
        f"not allowed: {change.path} {change.change}" for change in receipt.boundary.changes if not change.allowed
    ]
    return f"\n### {head}\n\n" + "".join(f"    {plain(line)}\n" for line in lines)


def _code(text: str) -> str:
    """A text as inline code, whatever it is: behind more backticks than it holds."""
    clean = plain(text)
    longest = max(map(len, re.findall("`+", clean)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if clean.startswith("`") or clean.endswith("`") else ""
    return f"{fence}{pad}{clean}{pad}{fence}" if clean.strip() else ""
