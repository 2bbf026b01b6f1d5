"""What stands beside rates when a model is chosen: what an episode takes, what fails, and who answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.cli.moved_told import answered
from harness.cli.output import folded, harmless, width
from harness.cli.rates_told import NOTHING, episode_cost, letters_by_run, tokens_of, told_table
from harness.schema.qualification import ActorFigures
from harness.schema.run import RunView

__all__ = ["as_details"]

#: So many failure codes have a row.
_CODES = 10


def as_details(views: Mapping[str, RunView], figures: Sequence[ActorFigures]) -> str:
    """Tables below the verdicts; of what nobody failed with or answered, none."""
    letters = letters_by_run(views)
    names = [harmless(f"{letters[one.run]}{one.actor}") for one in figures]
    parts = ["What an episode takes:\n" + _takes(figures, names)]
    if any(one.failure_codes for one in figures):
        parts.append("How many trials failed with what:\n" + _failures(figures, names))
    live = [(one, name) for one, name in zip(figures, names, strict=True) if one.kind == "live"]
    if live:
        lines = [folded(f"{name}: {answered(one)}", "  ") for one, name in live]
        parts.append("\n".join(("Who answered, and in how many trials:", *lines)))
    return "\n\n".join(parts)


def _takes(figures: Sequence[ActorFigures], names: Sequence[str]) -> str:
    head = ("cost", "half within", "95 of 100", "input", "cached", "output", "reasoning", "actor")
    rows = []
    for one, name in zip(figures, names, strict=True):
        times = ("-" if some is None else f"{some:.2f} s" for some in (one.latency.median_s, one.latency.p95_s))
        told = one.tokens
        counts = () if told is None else (told.input, told.cached, told.output, told.reasoning)
        tokens = tuple(map(tokens_of, counts)) or (NOTHING,) * 4
        rows.append((episode_cost(one.costs), *times, *tokens, name))
    parts = [
        part
        for one in figures
        if (told := one.tokens)
        for part in (told.cached, told.reasoning, told.input, told.output)
    ]
    unknown = any(part.total is None for part in parts)
    note = "\nWhat is not known is - or left out; it is not zero." if unknown else ""
    return told_table(head, rows) + note


def _failures(figures: Sequence[ActorFigures], names: Sequence[str]) -> str:
    """Codes as rows where the names of the actors fit above them, else actors as rows."""
    totals: Counter[str] = Counter()
    for one in figures:
        totals.update(one.failure_codes)
    codes = sorted(totals, key=lambda code: (-totals[code], code))
    if sum(len(name) + 2 for name in names) + max(map(len, codes)) <= width():
        rows = [(*(str(one.failure_codes.get(code, 0)) for one in figures), code) for code in codes[:_CODES]]
        more = len(codes) - len(rows)
        return told_table((*names, "code"), rows) + (f"\nand {more} more codes" if more else "")
    told = (
        ", ".join(f"{harmless(code)} {times}" for code, times in list(one.failure_codes.items())[:_CODES])
        for one in figures
    )
    return "\n".join(folded(f"{name}: {said or 'nothing'}", "  ") for name, said in zip(names, told, strict=True))
