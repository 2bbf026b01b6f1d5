"""Places a rule graph on paper: a column for each number of facts, every label on a track of its own.

Facts are only ever added, so edges run from left to right. An edge leaves its node on a port, runs straight below its
label, and only then bends to its target: labels of one column start at the same x and on different lines, so no two
of them meet. Calls that lead nowhere new are listed in their node; calls that end are counted there. Lengths are
pixels; text is monospaced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.reporters._path_taken import PathTaken
from harness.schema.counting import counted
from harness.schema.graph import RuleGraph

__all__ = ["Arrow", "Box", "Drawing", "Line", "draw"]

CHARACTER = 7.3
LINE_HEIGHT = 18.0
_PAD = 12.0
_PORT = 26.0
_GAP = 16.0
_BEND = 46.0
_MARGIN = 14.0
_FLAG = 26.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in a box; ``sort``: fact, start, stay (a call that leads nowhere new), refused."""

    text: str
    sort: str
    taken: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A node; ``flag`` is how the episode ended here, None where it went on or never came."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[Line, ...]
    accepts: bool
    visited: bool
    flag: str | None

    @property
    def flag_width(self) -> float:
        """Of the flag that hangs below the box."""
        return len(self.flag or "") * CHARACTER + 2 * _PAD

    @property
    def baselines(self) -> tuple[tuple[float, Line], ...]:
        """The y of each line's text."""
        top = self.y + (self.height - len(self.lines) * LINE_HEIGHT) / 2
        return tuple((top + LINE_HEIGHT * (row + 0.75), line) for row, line in enumerate(self.lines))


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge: where it starts, where its label's track ends, and where it arrives (from the left)."""

    label: str
    x: float
    y: float
    track: float
    to_x: float
    to_y: float
    taken: bool

    @property
    def path(self) -> str:
        """SVG path data, up to the arrow's head."""
        middle = (self.track + self.to_x) / 2
        curve = f"C{middle:.1f},{self.y:.1f} {middle:.1f},{self.to_y:.1f} {self.to_x - 8:.1f},{self.to_y:.1f}"
        return f"M{self.x:.1f},{self.y:.1f} H{self.track:.1f} {curve}"

    @property
    def head(self) -> str:
        """Points of the arrow's head."""
        return f"{self.to_x:.1f},{self.to_y:.1f} " + " ".join(
            f"{self.to_x - 9:.1f},{self.to_y + side:.1f}" for side in (-4.5, 4.5)
        )


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything with its place; arrows that were taken come last, so that they lie on top."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def draw(graph: RuleGraph, path: PathTaken, flag: str) -> Drawing:
    """Place the graph and mark the path; ``flag`` is hung below the node in which the episode ended."""
    boxes = [_box(graph, number, path, flag) for number in range(len(graph.nodes))]
    columns: defaultdict[int, list[int]] = defaultdict(list)
    for number, node in enumerate(graph.nodes):
        columns[len(node.facts)].append(number)
    order = [columns[size] for size in sorted(columns)]
    heights = [sum(_room(boxes[number]) for number in column) for column in order]
    left = _MARGIN
    for column, height in zip(order, heights, strict=True):
        _sort_by_predecessors(graph, column, boxes)
        own = (edge for edge in graph.edges if edge.source in column and edge.target not in {None, edge.source})
        track = max((_label_width(edge.kind) for edge in own), default=0.0)
        # a flag may hang out below the tracks: they end before anything bends down
        width = max(max(boxes[number].width, boxes[number].flag_width - track) for number in column)
        top = _MARGIN + (max(heights) - height) / 2
        for number in column:
            boxes[number] = replace(boxes[number], x=left, y=top + _GAP / 2, width=width)
            top += _room(boxes[number])
        left += width + track + _BEND
    right = max(box.x + box.width for box in boxes)
    arrows = sorted(_arrows(graph, path, boxes), key=lambda arrow: arrow.taken)
    return Drawing(right + _MARGIN, max(heights) + 2 * _MARGIN, tuple(boxes), tuple(arrows))


def _box(graph: RuleGraph, number: int, path: PathTaken, flag: str) -> Box:
    node = graph.nodes[number]
    lines = [Line(fact, "fact") for fact in node.facts] or [Line("start", "start")]
    ends: dict[str, bool] = {}
    for at, edge in enumerate(graph.edges):
        if edge.source != number:
            continue
        taken = at in path.edges
        if edge.target == number:
            lines.append(Line(f"↻ {edge.kind}", "stay", taken))
        elif edge.target is None:
            ends[edge.code or ""] = ends.get(edge.code or "", False) or taken
    if ends:
        lines.append(Line(f"⊘ {counted(len(ends), 'code')}", "refused", any(ends.values())))
    ports = sum(edge.source == number and edge.target not in {None, number} for edge in graph.edges)
    arriving = sum(edge.target == number and edge.source != number for edge in graph.edges)
    return Box(
        x=0.0,
        y=0.0,
        width=max(len(line.text) for line in lines) * CHARACTER + 2 * _PAD,
        height=max(len(lines) * LINE_HEIGHT + _PAD, ports * _PORT, arriving * _PORT / 2),
        lines=tuple(lines),
        accepts=node.accepts,
        visited=number in path.nodes,
        flag=flag if number == path.end else None,
    )


def _room(box: Box) -> float:
    # every box has room for a flag, so that boxes in a row stand at one height whichever the flag hangs on
    return box.height + _GAP + _FLAG


def _sort_by_predecessors(graph: RuleGraph, column: list[int], boxes: Sequence[Box]) -> None:
    """Boxes stand at about the height of where their edges come from; that keeps crossings few."""

    def height(number: int) -> float:
        sources = [edge.source for edge in graph.edges if edge.target == number and edge.source != number]
        placed = [_middle(boxes[source]) for source in sources if boxes[source].x > 0]
        return sum(placed) / len(placed) if placed else 0.0

    column.sort(key=lambda number: (height(number), number))


def _arrows(graph: RuleGraph, path: PathTaken, boxes: Sequence[Box]) -> list[Arrow]:
    numbers = [at for at, edge in enumerate(graph.edges) if edge.target not in {None, edge.source}]
    leaving: defaultdict[int, list[int]] = defaultdict(list)
    arriving: defaultdict[int, list[int]] = defaultdict(list)
    for at in numbers:
        leaving[graph.edges[at].source].append(at)
        arriving[graph.edges[at].target or 0].append(at)
    starts: dict[int, float] = {}
    ends: dict[int, float] = {}
    for source, edges in leaving.items():
        edges.sort(key=lambda at: _middle(boxes[graph.edges[at].target or 0]))
        starts.update(_spread(boxes[source], edges))
    for target, edges in arriving.items():
        edges.sort(key=starts.__getitem__)
        ends.update(_spread(boxes[target], edges))
    tracks: defaultdict[float, float] = defaultdict(float)
    for at in numbers:
        x = _right(boxes[graph.edges[at].source])
        tracks[x] = max(tracks[x], _label_width(graph.edges[at].kind))
    return [
        Arrow(
            label=graph.edges[at].kind,
            x=_right(boxes[graph.edges[at].source]),
            y=starts[at],
            track=_right(boxes[graph.edges[at].source]) + tracks[_right(boxes[graph.edges[at].source])],
            to_x=boxes[graph.edges[at].target or 0].x,
            to_y=ends[at],
            taken=at in path.edges,
        )
        for at in numbers
    ]


def _spread(box: Box, edges: Sequence[int]) -> dict[int, float]:
    """Ports at equal distances along a side of the box."""
    return {at: box.y + box.height * (place + 1) / (len(edges) + 1) for place, at in enumerate(edges)}


def _middle(box: Box) -> float:
    return box.y + box.height / 2


def _right(box: Box) -> float:
    return box.x + box.width


def _label_width(text: str) -> float:
    return len(text) * CHARACTER + 1.5 * _PAD
