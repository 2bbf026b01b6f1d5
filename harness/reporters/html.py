"""One HTML file for people: verdicts, evidence, steps, boundary, and the drawn rules with the path taken.

It needs nothing from anywhere: no script, no font, no picture; its policy forbids them, and allows the one style
sheet by its digest.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from harness.ports import Reporter
from harness.reporters._evidence import Told, ending, told
from harness.reporters._graph_layout import Drawing, draw
from harness.reporters._path_taken import PathTaken, follow
from harness.reporters._rows import (
    VERDICT_WORDS,
    Episode,
    counts,
    episodes,
    headline,
    kinds_in_runs,
    not_run,
    plain,
)
from harness.schema.command import CommandShape
from harness.schema.graph import RuleGraph
from harness.schema.run import PlannedEpisode, RunView, ScenarioSummary
from harness.schema.verdict import Verdict

__all__ = ["HtmlReporter", "build"]

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

    id: str
    summary: ScenarioSummary | None
    cards: tuple[_Card, ...]
    empty: tuple[PlannedEpisode, ...]
    arts: tuple[_Art, ...]
    refusals: tuple[_Ways, ...]


class HtmlReporter:
    """A single self-contained page."""

    name = "html"
    filename = "report.html"

    def render(self, view: RunView) -> str:
        """The whole file."""
        environment = _environment()
        style = environment.get_template("html.css").render()
        rows, empty = episodes(view), not_run(view)
        page = environment.get_template("html.jinja").render(
            view=view,
            manifest=view.manifest,
            headline=headline(view),
            tiles=_tiles(view, len(empty)),
            sections=_sections(view, rows, empty),
            unfold=sum(row.receipt.verdict != "pass" for row in rows) <= _UNFOLDED,
            words=VERDICT_WORDS,
            runs=kinds_in_runs,
            shape=_shape,
            style_digest=b64encode(sha256(style.encode()).digest()).decode(),
        )
        return page + "\n"


def build() -> Reporter:
    """The entry of this file."""
    return HtmlReporter()


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
    return environment


def _tiles(view: RunView, empty: int) -> tuple[_Tile, ...]:
    numbers = [(verdict, VERDICT_WORDS[verdict], number) for verdict, number in counts(view).items()]
    told = [*numbers, ("not_run", "not run", empty)]
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
    prefix: str, name: str, summary: ScenarioSummary | None, rows: list[Episode], empty: tuple[PlannedEpisode, ...]
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
                arts[way] = _Art(f"{prefix}-path-{len(arts) + 1}", row.receipt.verdict, draw(graph, *way))
            art = arts[way]
        cards.append(_Card(row, told(row), ending(row.receipt), art))
    return _Section(
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


def _shape(shape: CommandShape | None) -> str:
    """A command's shape in words: ``call, 8 or more tokens, redirect``."""
    if shape is None:
        return ""
    tokens = "8 or more" if shape.tokens == 8 else str(shape.tokens)  # noqa: PLR2004  (the schema's own ceiling)
    told = [shape.family, f"{tokens} token{'' if shape.tokens == 1 else 's'}"]
    if shape.segments > 1:
        told.append(f"{shape.segments} commands")
    flags = {
        "cannot be parsed": not shape.parseable,
        "several lines": shape.multiline,
        "pipe": shape.pipe,
        "redirect": shape.redirect,
        "conditional": shape.conditional,
        "expansion": shape.expansion,
        "names the content": shape.names_content_target,
    }
    return ", ".join([*told, *(word for word, there in flags.items() if there)])


def _breakable(text: str) -> Markup:
    """Long identifiers may break after their joints."""
    return Markup("<wbr>").join(re.split(r"(?<=[_/,|=])", plain(text)))


def _short(digest: str | None) -> str:
    """The first 12 digits of a digest."""
    return "" if digest is None else digest.removeprefix("sha256:")[:12]
