"""Everything in which an answer is not the decision that its packet asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harness.classifiers._decision.deriving import contract
from harness.classifiers._decision.fitting import MISFITS, misfit
from harness.classifiers._decision.reading import UNREADABLE, read_object
from harness.classifiers._decision.settings import DecisionSettings
from harness.rules.expecting import same
from harness.rules.looking import misses
from harness.schema.base import JsonValue
from harness.schema.name import Pointer
from harness.schema.pointer import MISSING, Missing, pointer

__all__ = ["FORMS", "WORDS", "Fault", "grade", "tables"]

#: What can be wrong with the form of an answer, whatever the packet says; the contract is held against the rest.
FORMS: Final = (*UNREADABLE, "unknown_field", "missing_field", *MISFITS)

_OBJECT, _ALLOWED = "an object", "an allowed value"
_TYPES: Final = {
    "text": "a text",
    "token": "a token",
    "flag": "true or false",
    "count": "a whole number",
    "tokens": "an array of texts",
    "texts": "an array of texts",
    "table": _OBJECT,
}
#: What findings say was wanted of a form.
WORDS: Final = (_ALLOWED, *dict.fromkeys(_TYPES.values()))


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: a word of ``FORMS``, the pointer of a field, or a name of ``never``; and where."""

    ground: str
    at: Pointer | None = None
    expected: JsonValue = None
    got: JsonValue | Missing = MISSING


def grade(settings: DecisionSettings, packet: JsonValue, text: str) -> tuple[Fault, ...]:
    """All faults of the answer: those of its form first, then what none may have, then the contract, field by field.

    Pure and total: never raises. None at all only where the text is one object with exactly the declared fields, each
    of its form and each as the packet says.
    """
    read = read_object(text, settings.most_chars)
    if isinstance(read, str):
        return (Fault(read),)
    shape = tuple(_shape(settings, read))
    wrong = tuple(_contract(settings, packet, read))
    return (*shape, *(() if shape else _never(settings, packet, read)), *wrong)


def tables(settings: DecisionSettings) -> dict[Pointer, frozenset[str]]:
    """The objects that an answer has, by pointer, each with the names that may stand in it."""
    found: dict[Pointer, set[str]] = {"": set()}
    for at in settings.fields:
        steps = at.split("/")
        for length in range(1, len(steps)):
            found.setdefault("/".join(steps[:length]), set()).add(steps[length].replace("~1", "/").replace("~0", "~"))
    return {at: frozenset(names) for at, names in found.items()}


def _shape(settings: DecisionSettings, answer: dict[str, JsonValue]) -> Iterator[Fault]:
    """What is wrong with the form; of an object that is not there nothing that would stand in it is told."""
    for at, names in tables(settings).items():
        table = pointer(answer, at)
        if isinstance(table, dict):
            # the name is the actor's own text: it is told by how many there are
            strange = [name for name in table if name not in names]
            if strange:
                yield Fault("unknown_field", at, 0, len(strange))
        elif table is not MISSING:
            yield Fault("wrong_type", at, _OBJECT, table)
        elif _has_place(answer, at) and _is_needed(settings, at):
            yield Fault("missing_field", at)
    for at, field in settings.fields.items():
        value = pointer(answer, at)
        if value is MISSING:
            if not field.optional and _has_place(answer, at):
                yield Fault("missing_field", at)
            continue
        wrong = misfit(field, value)
        if wrong is not None:
            yield Fault(wrong, at, _TYPES[field.type] if wrong == "wrong_type" else _ALLOWED, value)


def _has_place(answer: dict[str, JsonValue], at: Pointer) -> bool:
    """Whether the object that it would stand in is there."""
    return isinstance(pointer(answer, at.rpartition("/")[0]), dict)


def _is_needed(settings: DecisionSettings, table: Pointer) -> bool:
    """Whether something in this object must be there."""
    return any(at.startswith(f"{table}/") and not field.optional for at, field in settings.fields.items())


def _contract(settings: DecisionSettings, packet: JsonValue, answer: dict[str, JsonValue]) -> Iterator[Fault]:
    """Of a field that is not there its form tells."""
    for at, wanted in contract(settings, packet).items():
        value = pointer(answer, at)
        if value is MISSING and not settings.fields[at].optional:
            continue
        if wanted is MISSING or value is MISSING or not same(value, wanted):
            yield Fault(at, at, None if wanted is MISSING else wanted, value)


def _never(settings: DecisionSettings, packet: JsonValue, answer: dict[str, JsonValue]) -> Iterator[Fault]:
    document: dict[str, JsonValue] = {"answer": answer, "packet": packet}
    for one in settings.never:
        if not any(misses(document, at, expectation) for at, expectation in one.all.items()):
            yield Fault(one.name)
