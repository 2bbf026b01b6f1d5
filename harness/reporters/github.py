"""Annotations for GitHub: workflow commands that a step prints, so that they stand at the files of scenarios.

The form is that of GitHub's "Workflow commands": ``::error file=,line=,title=::message``, with ``%``, line ends, and in
properties ``:`` and ``,`` percent-encoded. GitHub shows ten errors and ten warnings of a step, so trials of one actor
that end alike in one scenario share a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from harness.ports import Reporter
from harness.reporters._evidence import ending, evidence, told
from harness.reporters._rows import Alike, alike, episodes, headline, not_run, plain
from harness.reporters._stale import proves_nothing, to_do, tolerated
from harness.schema.counting import worded
from harness.schema.decision import Answer, DecisionTold
from harness.schema.run import RunView

__all__ = ["GithubReporter", "build"]

#: As many of each sort as GitHub shows of a step.
_SHOWN: Final = 10
#: Longest message, in characters.
_LONGEST: Final = 4000

_Sort = Literal["error", "warning", "notice"]
_SORTS: Final[tuple[_Sort, ...]] = ("error", "warning", "notice")
_DECIDED: Final[dict[Answer, _Sort]] = {
    "fail": "error",
    "not_judged": "warning",
    "inconclusive": "warning",
    "pass": "notice",
}


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
        sorts: dict[_Sort, list[Alike]] = {"error": [], "warning": []}
        for some in alike(rows):
            first = some.first
            is_error = first.quarantine is None and (first.receipt.verdict == "fail" or (first.stale and not quiet))
            sorts["error" if is_error else "warning"].append(some)
        files = {one.id: one.file for one in view.manifest.scenarios}
        lines: list[str] = []
        left_out = len(not_run(view))
        for sort in _SORTS:
            decided = [_decision(sort, one) for one in view.decisions if _DECIDED[one.answer] == sort]
            found = sorts.get(sort, [])
            shown = [*decided, *(_annotation(sort, some, files) for some in found[:_SHOWN])][:_SHOWN]
            left_out += len(decided) + len(found) - len(shown)
            lines += shown
        # GitHub shows ten: where there are more, this line is the one that says so
        more = f"; {left_out} more {worded(left_out, 'is', 'are')} in the summary" if left_out else ""
        notice = _command("notice", f"{headline(view)}{more}", title="harness")
        return "\n".join([notice, *lines]) + "\n"


def build() -> Reporter:
    """The entry of this file."""
    return GithubReporter()


def _decision(sort: _Sort, one: DecisionTold) -> str:
    """What a policy says of an actor; it is about no file."""
    return _command(sort, "\n".join(one.lines)[:_LONGEST], title=one.headline)


def _annotation(sort: _Sort, some: Alike, files: Mapping[str, str]) -> str:
    row = some.first
    receipt = row.receipt
    code = "the recording no longer fits" if row.stale else receipt.failure_code or receipt.outcome.name
    lines = [f"episode {row.number}, {row.actor}: {receipt.failure_code or 'no code'} ({ending(receipt)})"]
    lines += [] if row.quarantine is None else [f"in quarantine {row.quarantine.terms}"]
    lines += [line for piece in told(row) for line in evidence(piece)]
    lines += [proves_nothing(1)] if row.stale else []
    lines += [f"to record anew: {line}" for line in to_do([row])]
    file = files.get(receipt.scenario)
    place = {"file": file, "line": "1"} if file else {}
    title = f"{receipt.scenario}, {row.who}: {code}{some.times}"
    return _command(sort, "\n".join(lines)[:_LONGEST], **place, title=title)


def _command(sort: _Sort, message: str, **properties: str) -> str:
    told = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{sort} {told}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    encoded = "%0A".join(plain(line).replace("%", "%25") for line in text.split("\n"))
    for letter in more:
        encoded = encoded.replace(letter, f"%{ord(letter):02X}")
    return encoded
