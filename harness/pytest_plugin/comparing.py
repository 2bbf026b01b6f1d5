"""What differs between a receipt and the one that was expected, most telling first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from harness.schema.base import JsonValue
from harness.schema.receipt import Finding, Receipt, Step

__all__ = ["compared", "played", "verdict"]

_POINTERS: Final = 6
#: Parts of a step by what they are called, beyond its kind, code and result.
_STEP_WORDS: Final = {
    "command_digest": "the command",
    "arguments_digest": "the arguments",
    "answer_digest": "the control plane's answer",
    "executed": "whether it ran",
    "refused": "why it was refused",
    "sets": "the facts it made true",
    "shape": "the command's shape",
    "tool": "the tool",
    "turn": "its turn",
}
#: Digests, and what it means that one is another.
_CHANGED: Final = {
    "classifier_version": "the classifiers are another version",
    "actor": "the actor is another (script, model or settings)",
    "plane": "the control plane is another version",
}


def compared(expected: Receipt, got: Receipt, parts: Sequence[str] = ()) -> Iterator[str]:
    """Verdict, the first step that differs, findings, facts, digests, counts, the workspace, and JSON pointers.

    ``parts`` are those of the scenario that are known to have changed.
    """
    old, new = expected.model_dump(mode="json"), got.model_dump(mode="json")
    if verdict(expected) != verdict(got):
        yield f"verdict: expected {verdict(expected)}, got {verdict(got)}"
    yield from _steps(expected, got)
    yield from (f"found now: {_finding(finding)}" for finding in got.findings if finding not in expected.findings)
    yield from (f"no longer found: {_finding(finding)}" for finding in expected.findings if finding not in got.findings)
    yield from _frozen(expected, got, parts)
    for words, before, now in _measured(expected, got):
        if before != now:
            yield f"{words}: expected {before}, got {now}"
    pointers = [*_pointers(old, new, "")]
    more = f" and {len(pointers) - _POINTERS} more" if len(pointers) > _POINTERS else ""
    yield f"differs at {', '.join(pointers[:_POINTERS])}{more}" if pointers else "differs in layout only"


def _frozen(expected: Receipt, got: Receipt, parts: Sequence[str]) -> Iterator[str]:
    """What was another already at the start."""
    found = [words for name, words in _CHANGED.items() if getattr(expected, name) != getattr(got, name)]
    if expected.scenario_digest != got.scenario_digest:
        more = f" and {len(parts) - _POINTERS} more" if len(parts) > _POINTERS else ""
        found.insert(0, f"the scenario changed{': ' if parts else ''}{', '.join(parts[:_POINTERS])}{more}")
    if not found and expected.definition_digest != got.definition_digest:
        # the definition covers all of these, and the prompt as it was delivered
        found.append("the prompt is another, although the scenario is the same: a value in it is computed")
    yield from found


def _measured(expected: Receipt, got: Receipt) -> Iterator[tuple[str, str, str]]:
    for name in ("steps", "turns", "findings"):
        yield f"number of {name}", str(len(getattr(expected, name))), str(len(getattr(got, name)))
    yield "facts", _listed(sorted(expected.facts)), _listed(sorted(got.facts))
    yield "changes of the workspace", _changes(expected), _changes(got)


def played(receipt: Receipt) -> Iterator[str]:
    """The steps of an episode, a line each."""
    for step in receipt.steps:
        yield f"step {step.ordinal}: {_step(step)}"


def verdict(receipt: Receipt) -> str:
    """Verdict, code and ending in one line."""
    code = "" if receipt.failure_code is None else f" {receipt.failure_code}"
    return f"{receipt.verdict}{code} ({receipt.outcome.name})"


def _step(step: Step | None) -> str:
    if step is None:
        return "no step"
    return f"{step.kind or 'no kind'}, {step.code or 'no code'}, {step.result}"


def _steps(expected: Receipt, got: Receipt) -> Iterator[str]:
    """The first step that differs, and how many follow."""
    pairs = [*zip_longest(expected.steps, got.steps)]
    unlike = [number for number, (old, new) in enumerate(pairs) if old != new]
    if not unlike:
        return
    old, new = pairs[unlike[0]]
    if _step(old) != _step(new):
        yield f"step {unlike[0] + 1}: expected {_step(old)}"
        yield f"step {unlike[0] + 1}: got {_step(new)}"
    elif old is not None and new is not None:
        names = [words for name, words in _STEP_WORDS.items() if getattr(old, name) != getattr(new, name)]
        yield f"step {unlike[0] + 1}, {old.kind or 'no kind'}: another is {', '.join(names)}"
    if len(unlike) > 1:
        yield f"steps that differ besides: {len(unlike) - 1}"


def _finding(finding: Finding) -> str:
    step = "" if finding.step is None else f"step {finding.step}, "
    at = "" if finding.pointer is None else f" at {finding.pointer or '/'}"
    sides = (("expected", finding.expected), ("got", finding.got))
    values = "".join(f"; {word} {text}" for word, text in sides if text is not None)
    return f"{step}{finding.check}, {finding.code}{at}{values}"


def _changes(receipt: Receipt) -> str:
    return _listed([f"{change.path} {change.change} by {change.by}" for change in receipt.boundary.changes])


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _pointers(old: JsonValue, new: JsonValue, at: str) -> Iterator[str]:
    """Where two JSON values differ, as pointers; what only one of them has is named as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            place = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
            if (key in old) != (key in new):
                yield place
            else:
                yield from _pointers(old.get(key), new.get(key), place)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            if index >= min(len(old), len(new)):
                yield f"{at}/{index}"
            else:
                yield from _pointers(old[index], new[index], f"{at}/{index}")
    elif old != new:
        yield at
