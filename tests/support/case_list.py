"""Which numbered cases of the runner's specification which test shows, read from the tests' own sources.

Run as a program it writes ``tests/README.md`` anew.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LATER", "NUMBERS", "Shown", "markdown", "shown"]

TESTS = Path(__file__).resolve().parent.parent
NUMBERS = range(1, 230)

#: Cases of mechanisms that harness does not have, by the mechanism.
LATER: dict[str, tuple[int, ...]] = {
    "preparation steps of tools": (21, 22),
    "hooks": (31, 97, 98, *range(133, 140), 228),
    "directives and steering": (128, 129, 130, 131, 132, 140),
    "approval": (37, 39, *range(102, 112), 171, 214),
    "code cells": (86, 87, 88),
    "compaction and the prompt-too-long ladder": (56, *range(143, 149)),
    "child episodes": (96, *range(188, 193)),
    "tool servers": (193, 194, 195),
    "journals of an older format": (227,),
}

_HEAD = """\
# Tests

| folder | holds |
|---|---|
| `unit/` | one folder a unit of the package; in-process, milliseconds |
| `property/` | what must hold for any input (hypothesis) |
| `contract/` | what every entry of a plural folder keeps |
| `cases/` | faults that public reports tell of, one test a report |
| `cli/`, `plugin/`, `replay/` | the commands, the pytest plugin, replays |
| `e2e/`, `browser/`, `docs/`, `bench/` | whole processes; mostly slow |
| `support/`, `data/` | what tests share |

`make test` runs what is not marked `slow`, `make test-all` the rest. `tests/support/case_list.py` writes this page.

## Numbered cases of the runner

`@case(N)` marks a test that shows case N of the runner's specification.

| case | shown by |
|---|---|
"""


@dataclass(frozen=True, order=True)
class Shown:
    """A test that shows a case."""

    file: str
    test: str


def shown(root: Path = TESTS) -> dict[int, tuple[Shown, ...]]:
    """Every case number that is marked below ``root``, with its tests by file and name."""
    found: defaultdict[int, set[Shown]] = defaultdict(set)
    for path in sorted(root.rglob("test_*.py")):
        source = path.read_text("utf-8")
        if "case(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for number in _marked(node):
                    found[number].add(Shown(path.relative_to(root).as_posix(), node.name))
    return {number: tuple(sorted(found[number])) for number in sorted(found)}


def _marked(test: ast.FunctionDef) -> Iterator[int]:
    for decorator in test.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "case":
                values = (argument.value for argument in node.args if isinstance(argument, ast.Constant))
                yield from (value for value in values if isinstance(value, int))


def markdown(cases: dict[int, tuple[Shown, ...]]) -> str:
    """The page ``tests/README.md``."""
    later = {number: why for why, numbers in LATER.items() for number in numbers}
    rows = [
        f"| {number} | {'<br>'.join(f'`{one.file}` {_sentence(one.test)}' for one in tests)} |"
        for number, tests in cases.items()
    ]
    missing = [number for number in NUMBERS if number not in cases and number not in later]
    parts = [_HEAD + "\n".join(rows)]
    if missing:
        parts.append("Not shown yet: " + ", ".join(map(str, missing)) + ".")
    parts.append("## Left for later\n\n| mechanism | cases |\n|---|---|")
    parts[-1] += "".join(
        f"\n| {why} | {', '.join(str(number) for number in numbers if number not in cases)} |"
        for why, numbers in LATER.items()
        if any(number not in cases for number in numbers)
    )
    return "\n\n".join(parts) + "\n"


def _sentence(name: str) -> str:
    return name.removeprefix("test_").replace("_", " ")


if __name__ == "__main__":
    (TESTS / "README.md").write_text(markdown(shown()), "utf-8")
