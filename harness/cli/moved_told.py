"""Whether the same model answered all the time, as far as its provider says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.cli.output import harmless
from harness.cli.rates_told import frequent
from harness.schema.counting import counted
from harness.schema.qualification import ActorFigures

__all__ = ["answered", "moved_told"]


def moved_told(figures: Sequence[ActorFigures], letters: Mapping[str, str]) -> Iterator[str]:
    """A line for each actor that several models answered for in one run, and for each that other ones did in another.

    Of one name and other fingerprints altogether it is said that its version moved; several of them within one run
    are what providers with several machines have, and no news.
    """
    for one in figures:
        if len(one.models) > 1:
            run = f"run {letters[one.run]}".strip() if letters[one.run] else "one run"
            models = frequent(one.models)
            yield f"{_name(one)}: several models answered in {run} ({models}), and its rate is that of none of them"
    seen: dict[str, ActorFigures] = {}
    for one in figures:
        before = seen.setdefault(one.actor, one)
        here, there = (letters[side.run].strip() for side in (before, one))
        if before.models and one.models and before.models.keys() != one.models.keys():
            was, now = (", ".join(map(harmless, side.models)) for side in (before, one))
            yield f"{_name(one)} is not the same model in both: {was} answered in {here}, {now} in {there}"
        elif before.fingerprints and one.fingerprints and before.fingerprints.keys().isdisjoint(one.fingerprints):
            was, now = (", ".join(map(harmless, side.fingerprints)) for side in (before, one))
            yield f"{_name(one)} may not be the same in both: its provider calls it {was} in {here}, {now} in {there}"


def answered(one: ActorFigures) -> str:
    """Which models answered in how many trials, and by how many fingerprints they were told."""
    if not one.models:
        return "not told by its provider"
    marks = f", under {counted(len(one.fingerprints), 'fingerprint')}: " if one.fingerprints else ""
    return frequent(one.models) + marks + frequent(one.fingerprints)


def _name(one: ActorFigures) -> str:
    return harmless(one.actor)
