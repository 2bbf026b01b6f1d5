"""What changed with which version of a control plane, and whether the plane or the actor moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from harness.reporters._rows import VERDICT_WORDS, Episode, episodes
from harness.schema.base import JsonValue
from harness.schema.counting import counted
from harness.schema.run import RunView
from harness.schema.verdict import Verdict

__all__ = ["Cell", "Change", "Matrix", "MatrixRow", "matrices", "matrices_json"]

#: Who another ending comes from: the control plane, the actor, or nobody knows.
Moved = Literal["plane", "actor", "unknown"]

_WHY: dict[tuple[str, Moved], str] = {
    ("script", "plane"): "the control plane moved: a script makes the same calls on every version",
    ("recorded", "plane"): "the control plane moved: what is recorded is the same on every version",
    ("live", "plane"): "the control plane moved: the actor made the same calls",
    ("live", "actor"): "the actor moved: it made other calls, which may be chance; harness qualify tells the rates",
}
_UNKNOWN = "who moved is not known: one side was not judged"
_STALE = "a recording belongs to the version that it was made on: nothing is judged here"


@dataclass(frozen=True, slots=True)
class Cell:
    """The episodes of one scenario and actor on one version; of several attempts the last counts.

    ``changed``: they ended otherwise than those on the version before it.
    """

    version: str
    rows: tuple[Episode, ...]
    changed: bool = False

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """How many have each verdict; those that none has are left out."""
        found = Counter(row.receipt.verdict for row in self.rows)
        return {verdict: found[verdict] for verdict in VERDICT_WORDS if found[verdict]}

    @property
    def codes(self) -> dict[str, int]:
        """How many have each code, the most frequent first."""
        return dict(Counter(row.receipt.failure_code for row in self.rows if row.receipt.failure_code).most_common())

    @property
    def word(self) -> str:
        """A word for one episode, or how many passed: ``failed``, ``3/5 passed``; ``-`` for none."""
        if not self.rows:
            return "-"
        if len(self.rows) == 1:
            return self.rows[0].word
        return f"{self.verdicts.get('pass', 0)}/{len(self.rows)} passed"

    @property
    def told(self) -> str:
        """The word, the codes, and in how many places the workspace changed where it must not."""
        alone = len(self.rows) == 1
        codes = (code if alone else f"{code} {times}" for code, times in self.codes.items())
        places = self.rows[0].receipt.boundary.unexpected if alone else 0
        return " ".join((self.word, *codes, *([f"({counted(places, 'place')})"] if places else [])))


@dataclass(frozen=True, slots=True)
class Change:
    """Episodes that ended otherwise on a version than on the one before it: which ``why`` tells who ``moved``."""

    before: Cell
    now: Cell
    moved: Moved
    why: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One scenario and actor: a cell for each version, and what changed between neighbours."""

    scenario: str
    actor: str
    cells: tuple[Cell, ...]
    changes: tuple[Change, ...]

    @property
    def name(self) -> str:
        """Scenario and actor."""
        return f"{self.scenario}, {self.actor}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """One control plane that was played in several versions, in the order of the plan.

    ``plain`` says in one sentence what its changes mean; empty where there is none to say.
    """

    plane: str
    versions: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    plain: str

    def shown(self, most: int) -> tuple[MatrixRow, ...]:
        """All rows where they are no more than ``most``; else so many, those in which something changed first."""
        if len(self.rows) <= most:
            return self.rows
        return tuple(sorted(self.rows, key=lambda row: not row.changes)[:most])

    @property
    def changes(self) -> tuple[tuple[MatrixRow, Change], ...]:
        """All of them, each with its row."""
        return tuple((row, change) for row in self.rows for change in row.changes)


def matrices(view: RunView) -> tuple[Matrix, ...]:
    """One for each control plane in several versions; none for an ordinary run."""
    several = view.manifest.in_versions
    if not several:
        return ()
    counted = [row for row in episodes(view) if not row.followed]
    return tuple(_matrix(view, name, counted) for name in sorted(several))


def matrices_json(view: RunView) -> list[JsonValue]:
    """The same for machines: scenarios and actors with their verdicts and codes by version, and what changed."""
    return [
        {
            "plane": matrix.plane,
            "versions": list(matrix.versions),
            "rows": [_row_json(row) for row in matrix.rows],
            "told": matrix.plain,
        }
        for matrix in matrices(view)
    ]


def _row_json(row: MatrixRow) -> JsonValue:
    cells: dict[str, JsonValue] = {
        cell.version: {"verdicts": dict(cell.verdicts.items()), "codes": dict(cell.codes.items())} for cell in row.cells
    }
    changes: list[JsonValue] = [
        {"from": one.before.version, "to": one.now.version, "moved": one.moved, "why": one.why} for one in row.changes
    ]
    return {"scenario": row.scenario, "actor": row.actor, "versions": cells, "changes": changes}


def _matrix(view: RunView, plane: str, rows: Sequence[Episode]) -> Matrix:
    of_plane = [place for place in view.manifest.plan if place.plane.partition("==")[0] == plane]
    versions = tuple(dict.fromkeys(place.plane.partition("==")[2] for place in of_plane))
    found: dict[tuple[str, str, str], list[Episode]] = {}
    for row in rows:
        if row.receipt.plane.name == plane:
            key = (row.receipt.scenario, row.receipt.actor.ref, row.receipt.plane.version)
            found.setdefault(key, []).append(row)
    named = dict.fromkeys((place.scenario, place.actor) for place in of_plane)
    made = tuple(
        _row(scenario, actor, [Cell(one, tuple(found.get((scenario, actor, one), ()))) for one in versions])
        for scenario, actor in named
    )
    return Matrix(plane, versions, made, _plain(plane, rows, made))


def _row(scenario: str, actor: str, cells: Sequence[Cell]) -> MatrixRow:
    changes = tuple(_changes(cells))
    changed = {change.now.version for change in changes}
    marked = tuple(Cell(cell.version, cell.rows, cell.version in changed) for cell in cells)
    return MatrixRow(scenario, actor, marked, changes)


def _changes(cells: Sequence[Cell]) -> Iterator[Change]:
    """Between neighbours that were both played."""
    for before, now in pairwise(cell for cell in cells if cell.rows):
        if _shares(before) != _shares(now):
            moved = _moved(before, now)
            why = _WHY.get((now.rows[0].receipt.actor.kind, moved), _UNKNOWN)
            unjudged = [row for cell in (before, now) for row in cell.rows if row.receipt.verdict == "not_judged"]
            is_stale = moved == "unknown" and all(row.stale for row in unjudged)
            yield Change(before, now, moved, _STALE if is_stale else why)


def _shares(cell: Cell) -> dict[tuple[str, ...], float]:
    """How the episodes of a cell ended, as shares: a script's with all that no chance is in.

    That is its path, and what the control plane changed in the workspace without being allowed to.
    """
    ends = Counter((*_end(row), *(_done(row) if row.receipt.actor.kind == "script" else ())) for row in cell.rows)
    return {end: count / len(cell.rows) for end, count in ends.items()}


def _done(row: Episode) -> tuple[str, ...]:
    return (*_path(row), str(row.receipt.boundary.unexpected))


def _end(row: Episode) -> tuple[str, str]:
    return (row.receipt.verdict, row.receipt.failure_code or "")


def _path(row: Episode) -> tuple[str, ...]:
    """The kinds of the calls, in order: what was done, whatever the words."""
    return tuple(f"{step.tool} {step.kind}" for step in row.receipt.steps)


def _moved(before: Cell, now: Cell) -> Moved:
    """Whoever does not choose its calls did not move; a model moved where it made calls that it did not make before."""
    old, new = ([row for row in cell.rows if row.receipt.verdict in {"pass", "fail"}] for cell in (before, now))
    if not old or not new:
        return "unknown"
    if now.rows[0].receipt.actor.kind != "live":
        return "plane"
    ends = {_end(row) for row in old}
    other = [row for row in new if _end(row) not in ends] or new
    if all(row.receipt.cause == "control_plane" for row in other):
        return "plane"
    return "plane" if {_path(row) for row in other} <= {_path(row) for row in old} else "actor"


def _plain(plane: str, rows: Sequence[Episode], made: Sequence[MatrixRow]) -> str:
    """One sentence."""
    if not any(row.changes for row in made):
        if not all(cell.rows for row in made for cell in row.cells):
            return ""
        return f"every episode ended alike on all versions of {plane}"
    others = [row for row in rows if row.receipt.plane.name == plane and row.receipt.actor.kind != "script"]
    if not others:
        return f"only scripts played, which make the same calls on every version: whatever changed is {plane}'s doing"
    return ""
