"""The commands that record anew what no longer fits."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from harness.schema.recording import RerecordSpec

__all__ = ["commands"]


def commands(specs: Iterable[RerecordSpec]) -> tuple[str, ...]:
    """As few lines to paste as will do: what takes the same options is one line, each scenario and actor named once.

    Where scenarios and actors are several, ``--stale-only`` leaves alone what still fits.
    """
    groups: dict[tuple[tuple[str, ...], bool, str | None], list[RerecordSpec]] = {}
    for spec in specs:
        groups.setdefault((spec.sets, spec.simulated, spec.into), []).append(spec)
    return tuple(_line(group) for group in groups.values())


def _line(group: Sequence[RerecordSpec]) -> str:
    first = group[0]
    words = ["harness", "record", *dict.fromkeys(spec.scenario for spec in group)]
    for actor in dict.fromkeys(spec.actor for spec in group):
        words += ["--actor", actor]
    for setting in first.sets:
        words += ["--set", setting]
    words += [] if first.into is None else ["--into", first.into]
    words += ["--provenance", "simulated"] if first.simulated else []
    return shlex.join([*words, "--stale-only", "--yes-spend"])
