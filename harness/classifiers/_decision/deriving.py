"""What a packet says that an answer must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Final

from harness.classifiers._decision.fitting import misfit
from harness.classifiers._decision.settings import AnswerField, DecisionSettings, Listed, Mapped, Route
from harness.rules.looking import fits, is_filled, look
from harness.schema.base import JsonValue
from harness.schema.name import Pointer
from harness.schema.pointer import MISSING, Missing

__all__ = ["contract", "unfit", "withheld"]

#: What nothing is where null is not allowed.
_NOTHING: Final[dict[str, JsonValue]] = {"flag": False, "tokens": [], "texts": [], "table": {}}
#: Shorter texts stand everywhere by chance.
_ID_MIN: Final = 4


def contract(settings: DecisionSettings, packet: JsonValue) -> dict[Pointer, JsonValue | Missing]:
    """What each field that is held against something must be; ``MISSING`` where the packet does not say it."""
    return {
        at: _derived(settings, field, packet)
        for at, field in settings.fields.items()
        if field.derivations and fits(packet, field.where)
    }


def unfit(settings: DecisionSettings, packet: JsonValue) -> tuple[Pointer, ...]:
    """The fields for which the packet gives nothing that an answer of the declared form could be."""
    derived = contract(settings, packet)
    return tuple(at for at, value in derived.items() if value is MISSING or misfit(settings.fields[at], value))


def withheld(settings: DecisionSettings, packet: JsonValue) -> dict[Pointer, tuple[str, ...]]:
    """The texts that are to be read out of the packet, by field: those that ``from`` gives and no ``one_of`` lists.

    What is in a table is compared as a whole, and its words are not withheld.
    """
    found: dict[Pointer, tuple[str, ...]] = {}
    for at, value in contract(settings, packet).items():
        field = settings.fields[at]
        if field.from_ is not None and field.type != "table":
            texts = dict.fromkeys(text for text in _texts(value) if len(text) >= _ID_MIN)
            found[at] = tuple(text for text in texts if text not in (field.one_of or ()))
    return found


def _derived(settings: DecisionSettings, field: AnswerField, packet: JsonValue) -> JsonValue | Missing:
    if field.from_ is not None:
        return _found(field, packet)
    if field.listed is not None:
        return _listed(field.listed, packet)
    if field.mapped is not None:
        return _mapped(field.mapped, packet)
    if field.route is not None:
        return next((one.to for one in settings.route if _leads(one, packet)), MISSING)
    return field.equals if field.equals is not None else _flag(field, packet)


def _flag(field: AnswerField, packet: JsonValue) -> bool:
    """Whether something is there, is not, or all conditions hold."""
    if field.if_ is not None:
        return fits(packet, field.if_)
    return is_filled(look(packet, field.present or field.lacks or "")) is (field.present is not None)


def _leads(route: Route, packet: JsonValue) -> bool:
    return fits(packet, route.when) and all(is_filled(look(packet, at)) for at in route.there)


def _found(field: AnswerField, packet: JsonValue) -> JsonValue | Missing:
    """The first that has something; else what nothing is for a field of this type."""
    seen = [look(packet, at) for at in field.sources]
    for value in seen:
        if value is not MISSING and value is not None:
            return value
    if field.nullable:
        return None
    empty: JsonValue | Missing = deepcopy(_NOTHING.get(field.type, MISSING))
    return empty


def _listed(listed: Listed, packet: JsonValue) -> JsonValue:
    table = look(packet, listed.at)
    there: Mapping[str, JsonValue] = table if isinstance(table, dict) else {}
    return [name for name in listed.of if is_filled(there.get(name))]


def _mapped(mapped: Mapped, packet: JsonValue) -> JsonValue | Missing:
    found = look(packet, mapped.at)
    return mapped.to.get(found, MISSING) if isinstance(found, str) else MISSING


def _texts(value: JsonValue | Missing) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
