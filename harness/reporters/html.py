"""One HTML file for people: verdicts, evidence, steps, boundary, and the drawn rules with the path taken.

It needs nothing from anywhere: no script, no font, no picture; its policy forbids them, and allows the one style
sheet by its digest.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from harness.ports import Reporter
from harness.reporters._graph_layout import Drawing, draw
from harness.reporters._path_taken import PathTaken, follow
from harness.reporters._rows import CHECK_WORDS, VERDICT_WORDS, Episode, counts, episodes, headline, not_run, plain
from harness.schema.command import CommandShape
from harness.schema.graph import RuleGraph
from harness.schema.run import PlannedEpisode, RunView, ScenarioSummary

__all__ = ["HtmlReporter", "build"]


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
    """One call that ends an episode from a set of facts; ``kind`` None is silence."""

    kind: str | None
    code: str
    taken: bool


@dataclass(frozen=True, slots=True)
class _Ways:
    """All that ends an episode from one set of facts."""

    facts: str
    ways: tuple[_Way, ...]


@dataclass(frozen=True, slots=True)
class _Card:
    """One episode with its drawn rules; ``drawing`` is None where the manifest does not hold the scenario."""

    row: Episode
    drawing: Drawing | None
    refusals: tuple[_Ways, ...]


@dataclass(frozen=True, slots=True)
class _Section:
    """One scenario; ``summary`` is None where the manifest does not hold it."""

    id: str
    summary: ScenarioSummary | None
    cards: tuple[_Card, ...]


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
            rows=rows,
            empty=empty,
            sections=_sections(view, rows, empty),
            words=VERDICT_WORDS,
            checks=CHECK_WORDS,
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
        _Section(
            id=name,
            summary=summaries.get(name),
            cards=tuple(_card(row, summaries.get(name)) for row in rows if row.receipt.scenario == name),
        )
        for name in dict.fromkeys(names)
    )


def _card(row: Episode, summary: ScenarioSummary | None) -> _Card:
    if summary is None or not summary.graph.nodes:
        return _Card(row, None, ())
    path = follow(summary.graph, row.receipt)
    receipt = row.receipt
    mark = {"pass": "✓ passed", "fail": f"✗ {receipt.failure_code or 'failed'}"}
    flag = mark.get(receipt.verdict, f"■ {receipt.failure_code or receipt.outcome.name}")
    return _Card(row, draw(summary.graph, path, plain(flag)), _refusals(summary.graph, path, receipt.failure_code))


def _refusals(graph: RuleGraph, path: PathTaken, code: str | None) -> tuple[_Ways, ...]:
    """Per set of facts, in the order of the graph: every call that ends the episode, and what silence means."""
    ended_by_call = any(graph.edges[at].target is None for at in path.edges)
    rows: list[_Ways] = []
    for number, node in enumerate(graph.nodes):
        ways = [
            _Way(edge.kind, edge.code or "", at in path.edges)
            for at, edge in enumerate(graph.edges)
            if edge.source == number and edge.target is None
        ]
        if node.silence is not None:
            silent = number == path.end and node.silence == code and not ended_by_call
            ways.append(_Way(None, node.silence, silent))
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
