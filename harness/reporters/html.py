"""One HTML file for people: verdicts, evidence, steps, boundary, and the drawn rules with the path taken.

It needs nothing from anywhere: no script, no font, no picture; its policy forbids them, and allows the one style
sheet by its digest.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Protocol, cast

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from harness.ports import Reporter
from harness.reporters._actors import HEADINGS, actor_rows
from harness.reporters._console import safe
from harness.reporters._evidence import Told, ending, told
from harness.reporters._graph_layout import Drawing, draw
from harness.reporters._path_taken import PathTaken, follow
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
    plain,
    planned_who,
    stale_count,
    state,
)
from harness.reporters._shape import shape
from harness.reporters._spending import cost_line
from harness.reporters._stale import proves_nothing, stale_rows, to_do
from harness.reporters._transcript import mark
from harness.reporters._versions import matrices
from harness.schema.graph import RuleGraph
from harness.schema.run import PlannedEpisode, RunView, ScenarioSummary
from harness.schema.verdict import Verdict

__all__ = ["HtmlReporter", "build"]

#: Most that a page may have, in bytes: browsers and mail take it, and a person can still look for something in it.
SIZE_MAX = 19_000_000
#: With less room than this, no card is tried.
_CARD_MIN = 2000
#: Up to so many episodes that did not pass lie open at first.
_UNFOLDED = 12


@dataclass(frozen=True, slots=True)
class _Tile:
    """One number of the head of the page; ``start`` and ``share`` place it in the bar, in percent."""

    sort: str
    word: str
    number: int
    start: float
    share: float


@dataclass(frozen=True, slots=True)
class _Way:
    """One call that ends an episode from a set of facts; ``kind`` None is silence, ``times`` how often it did."""

    kind: str | None
    code: str
    times: int


@dataclass(frozen=True, slots=True)
class _Ways:
    """All that ends an episode from one set of facts."""

    facts: str
    ways: tuple[_Way, ...]


@dataclass(frozen=True, slots=True)
class _Art:
    """The drawn rules with one path through them; ``id`` is unique in the page."""

    id: str
    verdict: Verdict
    drawing: Drawing


@dataclass(frozen=True, slots=True)
class _Card:
    """One episode with its drawn rules; ``art`` is None where the manifest does not hold the scenario."""

    row: Episode
    told: tuple[Told, ...]
    ending: str
    art: _Art | None


@dataclass(frozen=True, slots=True)
class _Section:
    """One scenario; ``summary`` is None where the manifest does not hold it. Each path is drawn once, in ``arts``."""

    key: str
    id: str
    summary: ScenarioSummary | None
    cards: tuple[_Card, ...]
    empty: tuple[PlannedEpisode, ...]
    arts: tuple[_Art, ...]
    refusals: tuple[_Ways, ...]

    def left_out(self, shown: Mapping[str, str]) -> int:
        """How many of its episodes have no card."""
        return sum(not shown[_place(card)] for card in self.cards)


class _Parts(Protocol):
    """The macros of ``html_parts.jinja`` that make what there may be no room for."""

    def art(self, one: _Art) -> Markup: ...

    def episode(self, card: _Card, *, pictured: bool, talked: bool) -> Markup: ...

    def refusals(self, section: _Section) -> Markup: ...


class HtmlReporter:
    """A single self-contained page."""

    name = "html"
    filename = "report.html"

    def render(self, view: RunView) -> str:
        """The whole file."""
        environment = _environment()
        style = environment.get_template("html.css").render()
        rows, empty = episodes(view), not_run(view)
        sections = _sections(view, rows, empty)
        words: dict[str, object] = {
            "view": view,
            "manifest": view.manifest,
            "headline": headline(view),
            "state": state(view),
            "cost": cost_line(view),
            "actors": actor_rows(rows),
            "actor_headings": HEADINGS,
            "matrices": matrices(view),
            "planned_who": planned_who,
            "several": view.manifest.in_versions,
            "tiles": _tiles(view, len(empty)),
            "sections": sections,
            "unfold": sum(row.receipt.verdict != "pass" for row in rows) <= _UNFOLDED,
            "stale": stale_rows(rows),
            "to_do": to_do,
            "proves_nothing": proves_nothing(len(stale_rows(rows))),
            "runs": kinds_in_runs,
            "shape": shape,
            "mark": mark,
            "style_digest": b64encode(sha256(style.encode()).digest()).decode(),
        }
        page = environment.get_template("html.jinja")
        bare = page.render(words, shown=Room(0).shown)
        shown = _filled(sections, words, SIZE_MAX - len(bare.encode()))
        return page.render(words, shown=shown) + "\n"


def build() -> Reporter:
    """The entry of this file."""
    return HtmlReporter()


def _filled(sections: Sequence[_Section], words: Mapping[str, object], size: int) -> Mapping[str, Markup]:
    """Cards, drawings and tables by their places in the page, as many as ``size`` bytes hold.

    Episodes that did not pass come first; conversations get what is left.
    """
    # macros are attributes that only the template knows
    parts = cast("_Parts", _environment().get_template("html_parts.jinja").make_module(dict(words)))
    room = Room(size)
    cards = [card for section in sections for card in section.cards]
    cards.sort(key=lambda card: card.row.receipt.verdict == "pass")
    pictured = {_place(card) for card in cards if _fill(room, card, parts)}
    for section in sections:
        if section.refusals:
            room.add({f"ways-{section.key}": parts.refusals(section)})
    for card in cards:
        if card.row.transcript is not None and room.shown[_place(card)] and room.left > _CARD_MIN:
            room.add({_place(card): parts.episode(card, pictured=_place(card) in pictured, talked=True)})
    return room.shown


def _fill(room: Room, card: _Card, parts: _Parts) -> bool:
    """Add a card, without its drawing where there is no room for that; whether it has it."""
    if room.left < _CARD_MIN:
        return False
    art = card.art
    drawn = {} if art is None or art.id in room.shown else {art.id: parts.art(art)}
    if room.add({_place(card): parts.episode(card, pictured=True, talked=False), **drawn}):
        return True
    room.add({_place(card): parts.episode(card, pictured=False, talked=False)})
    return False


def _place(card: _Card) -> str:
    return f"episode-{card.row.number}"


@cache
def _environment() -> Environment:
    def source(name: str) -> str:
        return (files("harness.reporters") / name).read_text(encoding="utf-8")

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(source),
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: plain(value) if type(value) is str else value,
    )
    environment.filters["breakable"] = _breakable
    environment.filters["short"] = _short
    environment.filters["lines"] = lambda text: Markup(escape(safe(text)))  # noqa: S704  (escaped)
    return environment


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


def _sections(view: RunView, rows: tuple[Episode, ...], empty: tuple[PlannedEpisode, ...]) -> tuple[_Section, ...]:
    summaries = {summary.id: summary for summary in view.manifest.scenarios}
    names = [place.scenario for place in (*view.manifest.plan, *empty)] + [row.receipt.scenario for row in rows]
    return tuple(
        _section(
            f"s{number}",
            name,
            summaries.get(name),
            [row for row in rows if row.receipt.scenario == name],
            tuple(place for place in empty if place.scenario == name),
        )
        for number, name in enumerate(dict.fromkeys(names), 1)
    )


def _section(
    key: str, name: str, summary: ScenarioSummary | None, rows: list[Episode], empty: tuple[PlannedEpisode, ...]
) -> _Section:
    graph = summary.graph if summary is not None and summary.graph.nodes else None
    paths = [None if graph is None else follow(graph, row.receipt) for row in rows]
    arts: dict[tuple[PathTaken, str], _Art] = {}
    cards: list[_Card] = []
    for row, path in zip(rows, paths, strict=True):
        art = None
        if graph is not None and path is not None:
            way = (path, _flag(row))
            if way not in arts:
                arts[way] = _Art(f"{key}-path-{len(arts) + 1}", row.receipt.verdict, draw(graph, *way))
            art = arts[way]
        cards.append(_Card(row, told(row), ending(row.receipt), art))
    return _Section(
        key=key,
        id=name,
        summary=summary,
        cards=tuple(cards),
        empty=empty,
        arts=tuple(arts.values()),
        refusals=() if graph is None else _refusals(graph, list(zip(rows, paths, strict=True))),
    )


def _flag(row: Episode) -> str:
    """What hangs below the node in which an episode ended."""
    receipt = row.receipt
    marks = {"pass": "✓ passed", "fail": f"✗ {receipt.failure_code or 'failed'}"}
    return plain(marks.get(receipt.verdict, f"■ {receipt.failure_code or receipt.outcome.name}"))


def _refusals(graph: RuleGraph, played: Sequence[tuple[Episode, PathTaken | None]]) -> tuple[_Ways, ...]:
    """Per set of facts, in the order of the graph: every call that ends an episode there, and what silence means."""
    by_call, by_silence = Counter[int](), Counter[tuple[int, str | None]]()
    for row, path in played:
        ended = [at for at in (path.edges if path is not None else ()) if graph.edges[at].target is None]
        by_call.update(ended)
        if path is not None and not ended:
            by_silence[path.end, row.receipt.failure_code] += 1
    rows: list[_Ways] = []
    for number, node in enumerate(graph.nodes):
        ways = [
            _Way(edge.kind, edge.code or "", by_call[at])
            for at, edge in enumerate(graph.edges)
            if edge.source == number and edge.target is None
        ]
        if node.silence is not None:
            ways.append(_Way(None, node.silence, by_silence[number, node.silence]))
        if ways:
            rows.append(_Ways(", ".join(node.facts) or "start", tuple(ways)))
    return tuple(rows)


def _breakable(text: str) -> Markup:
    """Long identifiers may break after their joints."""
    return Markup("<wbr>").join(re.split(r"(?<=[_/,|=])", plain(text)))


def _short(digest: str | None) -> str:
    """The first 12 digits of a digest."""
    return "" if digest is None else digest.removeprefix("sha256:")[:12]
