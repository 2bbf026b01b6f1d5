"""The scenarios of a run with their episodes, each with its evidence and its way through the rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.reporters._evidence import Told, ending, told
from harness.reporters._graph_layout import Drawing, draw
from harness.reporters._path_taken import Paths, PathTaken
from harness.reporters._rows import Episode, plain
from harness.schema.graph import RuleGraph
from harness.schema.run import PlannedEpisode, RunView, ScenarioSummary
from harness.schema.verdict import Verdict

__all__ = ["Art", "Card", "Section", "Way", "Ways", "flag", "sections"]


@dataclass(frozen=True, slots=True)
class Way:
    """One call that ends an episode from a set of facts; ``kind`` None is silence, ``times`` how often it did."""

    kind: str | None
    code: str
    times: int


@dataclass(frozen=True, slots=True)
class Ways:
    """All that ends an episode from one set of facts."""

    facts: str
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class Art:
    """The drawn rules with one path through them; ``id`` is unique in the page."""

    id: str
    verdict: Verdict
    drawing: Drawing


@dataclass(frozen=True, slots=True)
class Card:
    """One episode with its drawn rules; ``art`` is None where the manifest does not hold the scenario."""

    row: Episode
    told: tuple[Told, ...]
    ending: str
    art: Art | None

    @property
    def place(self) -> str:
        """What it is called in the page."""
        return f"episode-{self.row.number}"


@dataclass(frozen=True, slots=True)
class Section:
    """One scenario; ``summary`` is None where the manifest does not hold it.

    ``played`` counts all its episodes, of which all ``passed`` or not; ``cards`` are of those that are told here. Each
    path is drawn once, in ``arts``.
    """

    key: str
    id: str
    summary: ScenarioSummary | None
    played: int
    empty: tuple[PlannedEpisode, ...]
    passed: bool
    cards: tuple[Card, ...] = ()
    arts: tuple[Art, ...] = ()
    refusals: tuple[Ways, ...] = ()

    def left_out(self, shown: Mapping[str, str]) -> int:
        """How many of its episodes have no card."""
        return sum(not shown[card.place] for card in self.cards)


def sections(
    view: RunView, rows: Sequence[Episode], empty: Sequence[PlannedEpisode], paths: Paths, *, one_by_one: bool
) -> tuple[Section, ...]:
    """One for each scenario of the plan, in its order; its episodes get cards where they are told ``one_by_one``."""
    summaries = {summary.id: summary for summary in view.manifest.scenarios}
    names = [place.scenario for place in view.manifest.plan] + [row.receipt.scenario for row in rows]
    played: dict[str, list[Episode]] = {name: [] for name in dict.fromkeys(names)}
    for row in rows:
        played[row.receipt.scenario].append(row)
    not_played: defaultdict[str, list[PlannedEpisode]] = defaultdict(list)
    for place in empty:
        not_played[place.scenario].append(place)
    made: list[Section] = []
    for number, (name, some) in enumerate(played.items(), 1):
        passed = bool(some) and all(row.receipt.verdict == "pass" for row in some)
        bare = Section(f"s{number}", name, summaries.get(name), len(some), tuple(not_played[name]), passed)
        made.append(_section(bare, some, paths, one_by_one=one_by_one))
    return tuple(made)


def _section(bare: Section, rows: list[Episode], paths: Paths, *, one_by_one: bool) -> Section:
    graph = paths.graphs.get(bare.id)
    arts: dict[tuple[PathTaken, str], Art] = {}
    cards: list[Card] = []
    for row in rows if one_by_one else ():
        art, path = None, paths.of(row.receipt)
        if graph is not None and path is not None:
            way = (path, flag(row))
            if way not in arts:
                arts[way] = Art(f"{bare.key}-path-{len(arts) + 1}", row.receipt.verdict, draw(graph, *way))
            art = arts[way]
        cards.append(Card(row, told(row), ending(row.receipt), art))
    return replace(
        bare,
        cards=tuple(cards),
        arts=tuple(arts.values()),
        refusals=() if graph is None else _refusals(graph, [(row, paths.of(row.receipt)) for row in rows]),
    )


def flag(row: Episode) -> str:
    """What hangs below the node in which an episode ended."""
    receipt = row.receipt
    marks = {"pass": "✓ passed", "fail": f"✗ {receipt.failure_code or 'failed'}"}
    return plain(marks.get(receipt.verdict, f"■ {receipt.failure_code or receipt.outcome.name}"))


def _refusals(graph: RuleGraph, played: Sequence[tuple[Episode, PathTaken | None]]) -> tuple[Ways, ...]:
    """Per set of facts, in the order of the graph: every call that ends an episode there, and what silence means."""
    by_call, by_silence = Counter[int](), Counter[tuple[int, str | None]]()
    for row, path in played:
        ended = [at for at in (path.edges if path is not None else ()) if graph.edges[at].target is None]
        by_call.update(ended)
        if path is not None and not ended:
            by_silence[path.end, row.receipt.failure_code] += 1
    rows: list[Ways] = []
    for number, node in enumerate(graph.nodes):
        ways = [
            Way(edge.kind, edge.code or "", by_call[at])
            for at, edge in enumerate(graph.edges)
            if edge.source == number and edge.target is None
        ]
        if node.silence is not None:
            ways.append(Way(None, node.silence, by_silence[number, node.silence]))
        if ways:
            rows.append(Ways(", ".join(node.facts) or "start", tuple(ways)))
    return tuple(rows)
