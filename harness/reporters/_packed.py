"""All episodes of a run as the page's script reads them: columns of numbers, every text and every course of steps once.

The text is JSON, deflated without a header and written in base64: nothing in it can end the element that holds it. What
is a digest in a receipt is left out, for it is as large as everything else together; ``harness show RUN/N`` tells it.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Hashable, Iterable, Sequence
from typing import Final

from harness.reporters._cards import flag
from harness.reporters._evidence import Told, ending, told
from harness.reporters._graph_layout import Drawing, draw
from harness.reporters._path_taken import Paths, PathTaken
from harness.reporters._rows import Episode, plain
from harness.reporters._shape import shape
from harness.schema.base import JsonValue
from harness.schema.money import MICRO, told_usd
from harness.schema.paid import paid
from harness.schema.receipt import Boundary, Step

__all__ = ["packed", "values"]

#: Different drawings that a page holds; episodes beyond these are told without one.
_ARTS: Final = 400
#: No number.
_NONE: Final = -1


def packed(rows: Sequence[Episode], paths: Paths) -> str:
    """Base64 of what ``values`` gives."""
    text = json.dumps(values(rows, paths), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    squeeze = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)
    return b64encode(squeeze.compress(text.encode("utf-8", "backslashreplace")) + squeeze.flush()).decode("ascii")


def values(rows: Sequence[Episode], paths: Paths) -> JsonValue:
    """Columns by their names, each as long as ``rows``, and the tables that their numbers point into.

    ``number``: in the run, from 1; ``seconds`` in hundredths. A number of a text points into ``texts``, -1 is none.
    """
    book = _Book(paths)
    columns: dict[str, list[int]] = {
        name: []
        for name in (
            "number",
            "scenario",
            "actor",
            "plane",
            "trial",
            "attempt",
            "story",
            "seconds",
            "cost",
            "origin",
        )
    }
    for row in rows:
        receipt = row.receipt
        one = (
            row.number,
            book.text(receipt.scenario),
            book.text(receipt.actor.ref),
            book.text(receipt.plane.ref),
            receipt.trial,
            receipt.attempt,
            book.story(row),
            round(row.seconds * 100),
            book.text(_cost(row)),
            book.text(row.marks.removeprefix(", ")),
        )
        for column, number in zip(columns.values(), one, strict=True):
            column.append(number)
    return {
        "columns": {name: list(numbers) for name, numbers in columns.items()},
        "stories": book.stories,
        "steps": book.steps,
        "findings": book.findings,
        "arts": book.arts,
        "texts": list(book.texts),
    }


class _Book:
    """Every value that several episodes share, once; numbers are places in order of first appearance."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self.texts: dict[str, int] = {}
        self.stories: list[JsonValue] = []
        self.steps: list[JsonValue] = []
        self.findings: list[JsonValue] = []
        self.arts: list[JsonValue] = []
        self._numbers: dict[Hashable, int] = {}
        self._plain: dict[str, int] = {}

    def text(self, text: str | None) -> int:
        """Of a text as it is shown; none and the empty one are the same."""
        if not text:
            return _NONE
        number = self._plain.get(text)
        if number is None:
            number = self._plain[text] = self.texts.setdefault(plain(text), len(self.texts))
        return number

    def story(self, row: Episode) -> int:
        """How an episode went: what many have in common."""
        receipt = row.receipt
        problem = None if row.log is None else row.log.problem
        pieces = () if receipt.verdict == "pass" and not receipt.findings and problem is None else told(row)
        counters = receipt.counters
        key = (
            receipt.verdict,
            row.word,
            self.text(ending(receipt)),
            self.text(receipt.failure_code),
            self.text((receipt.cause or "").replace("_", " ")),
            self.text(", ".join(receipt.facts)),
            tuple((self._step(step), step.turn) for step in receipt.steps),
            tuple(self._finding(piece) for piece in pieces),
            (counters.model_turns, counters.tool_calls, counters.executed_calls),
            tuple(self.text(line) for line in _changes(receipt.boundary)),
            self._art(row),
            self.text(None if row.quarantine is None else row.quarantine.terms),
        )
        number = self._numbers.get(("story", key))
        if number is None:
            number = self._numbers["story", key] = len(self.stories)
            verdict, word, *middle, steps, findings, counts, changes, art, aside = key
            told_steps: list[JsonValue] = [list(pair) for pair in steps]
            self.stories.append(
                [verdict, self.text(word), *middle, told_steps, list(findings), list(counts), list(changes), art, aside]
            )
        return number

    def _step(self, step: Step) -> int:
        key = (step.tool, step.kind, step.code, step.result, step.executed, step.refused, step.sets, step.shape)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.steps)
            refused = "" if step.refused is None else step.refused
            words = (step.tool, step.kind, step.code, step.result.replace("_", " "), refused.replace("_", " "))
            last = (", ".join(step.sets), shape(step.shape))
            self.steps.append([*map(self.text, words), *map(self.text, last), int(step.executed)])
        return number

    def _finding(self, piece: Told) -> int:
        number = self._numbers.get(piece)
        if number is None:
            number = self._numbers[piece] = len(self.findings)
            pointer = None if piece.pointer is None else piece.pointer or "/"
            words = (piece.code, piece.where, piece.what, pointer, piece.expected, piece.got, *piece.sides)
            self.findings.append(list(map(self.text, words)))
        return number

    def _art(self, row: Episode) -> int:
        receipt = row.receipt
        graph, path = self._paths.graphs.get(receipt.scenario), self._paths.of(receipt)
        if graph is None or path is None:
            return _NONE
        way: tuple[str, PathTaken, str] = (receipt.scenario, path, flag(row))
        number = self._numbers.get(way)
        if number is None:
            number = self._numbers[way] = _NONE if len(self.arts) == _ARTS else len(self.arts)
            if number != _NONE:
                self.arts.append(self._drawn(draw(graph, path, flag(row))))
        return number

    def _drawn(self, drawing: Drawing) -> JsonValue:
        boxes: list[JsonValue] = []
        for box in drawing.boxes:
            lines: list[JsonValue] = [
                [self.text(line.text), line.sort, int(line.taken), round(y, 1)] for y, line in box.baselines
            ]
            place = [round(one, 1) for one in (box.x, box.y, box.width, box.height)]
            marks = [int(box.accepts), int(box.visited), self.text(box.flag), round(box.flag_width, 1)]
            boxes.append([*place, *marks, lines])
        arrows: list[JsonValue] = [
            [
                arrow.path,
                arrow.head,
                round(arrow.x + 10, 1),
                round(arrow.y - 5, 1),
                self.text(arrow.label),
                int(arrow.taken),
            ]
            for arrow in drawing.arrows
        ]
        return [round(drawing.width, 1), round(drawing.height, 1), boxes, arrows]


def _changes(boundary: Boundary) -> Iterable[str]:
    """What changed, what was not allowed first; one line where nothing did."""
    if not boundary.measured:
        return ("not measured",)
    if not boundary.changes:
        return ("measured before and after: nothing in the workspace changed",)
    return tuple(
        f"{'' if change.allowed else '✗ not allowed: '}{change.path} {change.change} by {change.by.replace('_', ' ')}"
        for change in sorted(boundary.changes, key=lambda one: one.allowed)
    )


def _cost(row: Episode) -> str:
    """Of the calls of which it is known, as it is told; empty where it is of none."""
    if row.log is None or row.receipt.actor.kind != "live":
        return ""
    own = paid([row.log])
    return told_usd(own.micro_usd / MICRO, at_least=own.at_least) if own.is_known else ""
