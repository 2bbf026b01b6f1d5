"""Values that are known only while an episode runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.documents.patterns import first_group
from harness.schema.base import JsonValue
from harness.schema.pointer import pointer
from harness.schema.scenario import LateValue

__all__ = ["resolve_late"]


def resolve_late(
    late: LateValue,
    *,
    prompt: str,
    answer: Callable[[str], dict[str, JsonValue] | None],
    plane: Callable[[tuple[str, ...]], dict[str, JsonValue] | None],
    shown: Sequence[str] = (),
) -> str | None:
    """The value now, or None where it cannot be known yet or is no text.

    ``prompt`` is the user message, ``answer`` gives a kind's first answer, ``plane`` makes a control-plane call and
    gives the JSON object it printed; ``shown`` are the results so far as they were shown, oldest first.
    """
    found = _found(late, prompt=prompt, answer=answer, plane=plane, shown=shown)
    for old, new in late.replace:
        found = None if found is None or old not in found else found.replace(old, new)
    return found


def _found(
    late: LateValue,
    *,
    prompt: str,
    answer: Callable[[str], dict[str, JsonValue] | None],
    plane: Callable[[tuple[str, ...]], dict[str, JsonValue] | None],
    shown: Sequence[str],
) -> str | None:
    if late.prompt is not None:
        return first_group(late.prompt, prompt)
    if late.shown is not None:
        found = (first_group(late.shown, text) for text in reversed(shown))
        return next((value for value in found if value is not None), None)
    document: JsonValue = None
    if late.plane is not None:
        document = plane(late.plane)
    elif late.answer is not None:
        document = answer(late.answer)
    value = pointer(document, late.at or "")
    return value if isinstance(value, str) else None
