"""Annotations for GitHub: workflow commands that a step prints, so that they stand at the files of scenarios.

The form is that of GitHub's "Workflow commands": ``::error file=,line=,title=::message``, with ``%``, line ends, and in
properties ``:`` and ``,`` percent-encoded. GitHub shows ten errors and ten warnings of a step, so trials of one actor
that end alike in one scenario share a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from harness.ports import Reporter
from harness.reporters._evidence import ending, evidence, told
from harness.reporters._rows import Episode, episodes, headline, not_run, plain
from harness.reporters._stale import proves_nothing, to_do, tolerated
from harness.schema.counting import worded
from harness.schema.run import RunView

__all__ = ["GithubReporter", "build"]

#: As many of each sort as GitHub shows of a step.
_SHOWN: Final = 10
#: Longest message, in characters.
_LONGEST: Final = 4000

_Sort = Literal["error", "warning", "notice"]
#: Trials of one scenario and actor that ended alike; at least one.
_Alike = Sequence[Episode]


class GithubReporter:
    """Lines for standard output of a step: ``fail`` and drift are errors, what else was not judged is a warning.

    Drift is a warning too where the run was told to go on.
    """

    name = "github"
    filename = "annotations.txt"

    def render(self, view: RunView) -> str:
        """The whole file; the first line is a notice with the counts."""
        rows = [row for row in episodes(view) if not row.followed]
        quiet = tolerated(view)
        sorts: dict[_Sort, list[_Alike]] = {"error": [], "warning": []}
        for alike in _alike(rows):
            first = alike[0]
            is_error = first.quarantine is None and (first.receipt.verdict == "fail" or (first.stale and not quiet))
            sorts["error" if is_error else "warning"].append(alike)
        # GitHub shows ten: where there are more, this line is the one that says so
        left_out = sum(max(0, len(some) - _SHOWN) for some in sorts.values()) + len(not_run(view))
        more = f"; {left_out} more {worded(left_out, 'is', 'are')} in the summary" if left_out else ""
        lines = [_command("notice", f"{headline(view)}{more}", title="harness")]
        trials = Counter((row.receipt.scenario, row.who) for row in rows)
        for sort, some in sorts.items():
            lines += [_annotation(sort, alike, trials) for alike in some[:_SHOWN]]
        return "\n".join(lines) + "\n"


def build() -> Reporter:
    """The entry of this file."""
    return GithubReporter()


def _alike(rows: Iterable[Episode]) -> Iterator[_Alike]:
    """What did not pass: of one scenario and actor the trials with one code, in plan order of the first of them."""
    found: dict[tuple[str, str, str, bool], list[Episode]] = {}
    for row in rows:
        receipt = row.receipt
        if receipt.verdict != "pass":
            found.setdefault((receipt.scenario, row.who, _code(row), receipt.verdict == "fail"), []).append(row)
    yield from found.values()


def _code(row: Episode) -> str:
    receipt = row.receipt
    return "the recording no longer fits" if row.stale else receipt.failure_code or receipt.outcome.name


def _annotation(sort: _Sort, alike: _Alike, trials: Mapping[tuple[str, str], int]) -> str:
    row = alike[0]
    receipt = row.receipt
    of_all = trials[receipt.scenario, row.who]
    times = f" in {len(alike)} of {of_all} trials" if of_all > 1 else ""
    lines = [f"episode {row.number}, {row.actor}: {receipt.failure_code or 'no code'} ({ending(receipt)})"]
    lines += [] if row.quarantine is None else [f"in quarantine {row.quarantine.terms}"]
    lines += [line for piece in told(row) for line in evidence(piece)]
    lines += [proves_nothing(1)] if row.stale else []
    lines += [f"to record anew: {line}" for line in to_do([row])]
    return _command(
        sort,
        "\n".join(lines)[:_LONGEST],
        file=f"scenarios/{receipt.scenario}.toml",
        line="1",
        title=f"{receipt.scenario}: {_code(row)}{times}",
    )


def _command(sort: _Sort, message: str, **properties: str) -> str:
    told = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{sort} {told}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    encoded = "%0A".join(plain(line).replace("%", "%25") for line in text.split("\n"))
    for letter in more:
        encoded = encoded.replace(letter, f"%{ord(letter):02X}")
    return encoded
