"""One HTML file for people: verdicts and rates first, then every episode with its steps, and the rules' path taken.

It needs nothing from anywhere: no font, no picture, no network; its policy forbids them, and allows one style sheet and
one script by their digests. The script only looks for, sorts and opens what the page holds. A run that is too large for
one file gets several, which lead to each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.ports import Reporter
from harness.qualification.not_needed import told_early
from harness.reporters._actors import HEADINGS, actor_rows
from harness.reporters._cards import sections
from harness.reporters._filling import filled, fitting_rates, fitting_sections
from harness.reporters._packed import packed
from harness.reporters._page_template import environment, furniture
from harness.reporters._path_taken import Paths
from harness.reporters._plot import plot
from harness.reporters._rates import failures, points, rates
from harness.reporters._room import Room
from harness.reporters._rows import (
    STALE,
    VERDICT_WORDS,
    Episode,
    counts,
    episodes,
    headline,
    kinds_in_runs,
    not_run,
    planned_trial,
    stale_count,
    state,
)
from harness.reporters._shape import shape
from harness.reporters._spending import cost_line
from harness.reporters._stale import proves_nothing, stale_rows, to_do
from harness.reporters._transcript import mark
from harness.reporters._trend import lines
from harness.reporters._versions import matrices
from harness.schema.run import RunView

__all__ = ["HtmlReporter", "build"]

#: Most that a page with conversations may have, in bytes: browsers and mail take it.
SIZE_MAX = 19_000_000
#: Most that one without them is filled up to, in bytes.
BARE_MAX = 1_000_000
#: Up to so many episodes are told one by one where no script runs; with conversations all are.
CARDS_MAX = 500
#: Up to so many episodes that did not pass lie open at first.
_UNFOLDED = 12
#: Episodes of a page that also tells the rest, and of each page where they are more.
ROWS_MAX = 50_000
PART_ROWS = 10_000
#: What a link from a row to its card takes, in bytes.
_LINK: Final = 48
#: What rates, and what is said of scenarios, may take at least, in bytes; else a quarter of the page each.
_PART_MIN: Final = 50_000
#: Rows that a table of versions has, and as many changes are told.
_VERSION_ROWS: Final = 100
#: Empty places of the plan that are named.
_NAMED: Final = 30


@dataclass(frozen=True, slots=True)
class _Tile:
    """One number of the head of the page; ``start`` and ``share`` place it in the bar, in percent."""

    sort: str
    word: str
    number: int
    start: float
    share: float


@dataclass(frozen=True, slots=True)
class _Part:
    """Some of the episodes of a run that has too many for one page, in a file of their own."""

    file: str
    rows: Sequence[Episode]

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """How many have which word for a verdict, those that passed first."""
        words = [row.word for row in self.rows]
        return tuple((word, words.count(word)) for word in dict.fromkeys((VERDICT_WORDS["pass"], *sorted(set(words)))))


class HtmlReporter:
    """A self-contained page, and more of them beside it for a run of more than ``ROWS_MAX`` episodes."""

    name = "html"
    filename = "report.html"

    def render(self, view: RunView) -> str:
        """The page that tells the whole run."""
        return next(self.pages(view, self.filename))[1]

    def pages(self, view: RunView, filename: str) -> Iterator[tuple[str, str]]:
        """Name and text of every file; the first is ``filename``, and the others lead to it by that name."""
        rows, paths = episodes(view), Paths(view.manifest.scenarios)
        parts = _parts(rows, filename)
        yield filename, _whole(view, rows, paths, parts)
        template = environment().get_template("html_rows.jinja")
        for at, part in enumerate(parts):
            words = {
                **furniture(),
                "manifest": view.manifest,
                "whole": filename,
                "part": part,
                "before": parts[at - 1].file if at else None,
                "after": parts[at + 1].file if at + 1 < len(parts) else None,
                "total": len(rows),
                "packed": packed(part.rows, paths),
            }
            yield part.file, template.render(words) + "\n"


def build() -> Reporter:
    """The entry of this file."""
    return HtmlReporter()


def _whole(view: RunView, rows: Sequence[Episode], paths: Paths, parts: Sequence[_Part]) -> str:
    empty = not_run(view)
    one_by_one = bool(view.transcripts) or len(rows) <= CARDS_MAX
    told = sections(view, rows, empty, paths, one_by_one=one_by_one)
    stale = stale_rows(rows)
    codes, more_codes = failures(rows)
    size = SIZE_MAX if view.transcripts else BARE_MAX
    part = max(size // 4, _PART_MIN)
    described = fitting_sections(told, part)
    words: dict[str, object] = {
        **furniture(),
        "view": view,
        "manifest": view.manifest,
        "headline": headline(view),
        "state": state(view),
        "cost": cost_line(view),
        "early": told_early(view),
        "rates": fitting_rates(rates(rows), part),
        "plot": plot(points(rows)),
        "narrow_plot": plot(points(rows), narrow=True),
        "trends": lines(view.trends, {one.ref for one in view.manifest.actors if one.kind == "live"}),
        "codes": codes,
        "more_codes": more_codes,
        "actors": actor_rows(tuple(rows)),
        "actor_headings": HEADINGS,
        "matrices": matrices(view),
        "version_rows": _VERSION_ROWS,
        "planned": planned_trial(view),
        "tiles": _tiles(view, len(empty)),
        "sections": told,
        "described": described,
        "described_keys": {section.key for section in described},
        "empty": empty,
        "named": _NAMED,
        "one_by_one": one_by_one,
        "parts": parts,
        "packed": "" if parts or not rows else packed(rows, paths),
        "unfold": sum(row.receipt.verdict != "pass" for row in rows) <= _UNFOLDED,
        "stale": stale,
        "to_do": to_do,
        "proves_nothing": proves_nothing(len(stale)),
        "runs": kinds_in_runs,
        "shape": shape,
        "mark": mark,
    }
    page = environment().get_template("html.jinja")
    bare = page.render(words, shown=Room(0).shown)
    # a row whose episode has a card leads to it
    shown = filled(described, words, size - len(bare.encode()) - _LINK * len(rows) * one_by_one)
    return page.render(words, shown=shown) + "\n"


def _parts(rows: Sequence[Episode], filename: str) -> tuple[_Part, ...]:
    """None where one page holds all of them."""
    if len(rows) <= ROWS_MAX:
        return ()
    stem, dot, end = filename.partition(".")
    starts = range(0, len(rows), PART_ROWS)
    return tuple(
        _Part(f"{stem}-{number:0{len(str(len(starts)))}}{dot}{end}", rows[start : start + PART_ROWS])
        for number, start in enumerate(starts, 1)
    )


def _tiles(view: RunView, empty: int) -> tuple[_Tile, ...]:
    stale = stale_count(view)
    found = {verdict: number - (stale if verdict == "not_judged" else 0) for verdict, number in counts(view).items()}
    numbers = [(verdict, VERDICT_WORDS[verdict], number) for verdict, number in found.items()]
    told = [*numbers, *([("stale", STALE, stale)] if stale else []), ("not_run", "not run", empty)]
    total = sum(number for _, _, number in told) or 1
    tiles: list[_Tile] = []
    start = 0.0
    for sort, word, number in told:
        share = 100 * number / total
        tiles.append(_Tile(sort, word, number, round(start, 3), round(share, 3)))
        start += share
    return tuple(tiles)
