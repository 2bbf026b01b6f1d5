"""Which episodes of a run the command line speaks to: by number, by name, or all that wait for a decision."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from harness.cli.decisions import EVERYBODY
from harness.cli.going_on import is_undecided, name_of, numbered
from harness.errors import UsageError
from harness.receipt import last_attempts
from harness.schema.counting import counted
from harness.schema.run import RunView

__all__ = ["Holder", "Said", "spoken_to"]

#: Holds the episode with this key; what it gives records what was said.
Holder = Callable[[str], AbstractContextManager[Callable[[], object]]]


@dataclass(frozen=True, slots=True)
class Said:
    """Something said to the ``number``-th receipt of a run, from 1; ``told`` is how the command line calls that."""

    number: int
    told: str
    hold: Holder
    is_of_all: bool = False


def spoken_to(view: RunView, run: Path, said: Iterable[tuple[str, str, Holder]]) -> tuple[Said, ...]:
    """Every episode that something is said to: an option, what it calls the episode, and who holds it.

    Raises UsageError that tells all that is wrong with any of it.
    """
    found: list[Said] = []
    everybody: list[tuple[str, Holder]] = []
    problems: list[str] = []
    for option, who, hold in said:
        if who == EVERYBODY:
            everybody.append((option, hold))
            continue
        numbers = _numbers(view, who)
        problem = _problem(view, run, f"{option} {who}", who, numbers)
        if problem is None:
            found.append(Said(numbers[0], f"{option} {who}", hold))
        else:
            problems.append(problem)
    spoken = [one.number for one in found]
    problems += [
        f"episode {number} is spoken to {spoken.count(number)} times; say one thing to it"
        for number in dict.fromkeys(spoken)
        if spoken.count(number) > 1
    ]
    if len(everybody) > 1:
        problems.append(f"--decide {EVERYBODY} is given {len(everybody)} times; say one thing to them")
    for option, hold in everybody[:1]:
        others = [n for n in range(1, len(view.receipts) + 1) if is_undecided(view, n) and n not in spoken]
        found += [Said(number, f"{option} {EVERYBODY}, episode {number}", hold, is_of_all=True) for number in others]
        if not others:
            problems.append(f"{option} {EVERYBODY}: no other episode of {run} waits for a decision")
    if problems:
        raise UsageError("; ".join(problems))
    return tuple(found)


def _numbers(view: RunView, who: str) -> list[int]:
    """The receipts, from 1, that are called so; of several attempts the last."""
    if who.isdecimal():
        return [int(who)] if 1 <= int(who) <= len(view.receipts) else []
    last = {receipt.key for receipt in last_attempts(view.receipts)}
    several = view.manifest.in_versions
    return [
        number
        for number, receipt in enumerate(view.receipts, 1)
        if receipt.key in last and name_of(receipt, several) == who
    ]


def _problem(view: RunView, run: Path, told: str, who: str, numbers: Sequence[int]) -> str | None:
    if who.isdecimal():
        if not numbers:
            return f"{told}: {run} has {counted(len(view.receipts), 'episode')}"
        name = name_of(view.receipts[numbers[0] - 1], view.manifest.in_versions)
        if not numbered(view, numbers[0]) and "=" not in name:
            return (
                f"{told}: numbers of this run move while episodes are missing or are tried again; the one of that "
                f"number is now {shlex.quote(name)}: call it so"
            )
        return None
    return None if len(numbers) == 1 else f"{told}: {run} has {len(numbers) or 'no'} such episodes"
