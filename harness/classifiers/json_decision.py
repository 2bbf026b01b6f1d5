"""A decision without tools: one JSON object, held against the packet that the prompt showed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from harness.classifiers._decision.deriving import unfit, withheld
from harness.classifiers._decision.grading import FORMS, WORDS, Fault, grade, tables
from harness.classifiers._decision.mistakes import condition_problems, forbidden_problems, value_problems
from harness.classifiers._decision.settings import AnswerField, DecisionSettings
from harness.schema.base import JsonValue
from harness.schema.classifier import Evidence, SettingProblem, Violation
from harness.schema.judging import Classifier
from harness.schema.packet import Preparation
from harness.schema.pointer import MISSING
from harness.schema.scenario import Scenario

__all__ = ["CLASSIFIER", "JsonDecision"]

_At = tuple[str | int, ...]

#: Stands for a value of a reply that is a number, or holds one.
_NUMBER: Final = "a value with a number"


class JsonDecision(DecisionSettings, Classifier):
    """The last answer is exactly one JSON object with the declared fields, each of its form and as the packet says.

    What can be wrong with its form are grounds of one name each; a field that is not as the packet says is a ground by
    its pointer, and so is each combination of ``never`` by its name.
    """

    grounds: ClassVar[tuple[str, ...]] = FORMS

    def own_grounds(self) -> Sequence[str]:
        """The pointers of fields that are held against something, and the names of combinations that none may have."""
        held = [at for at, field in self.fields.items() if field.derivations]
        return (*held, *(one.name for one in self.never))

    def problems(self, scenario: Scenario) -> Sequence[SettingProblem]:
        """Fields that contradict themselves or each other, routes that none can take, and no packet at all."""
        return tuple(self._problems(scenario))

    def phrases(self) -> Sequence[str]:
        """The objects of an answer, and what was wanted of a form."""
        return (*tables(self), *WORDS, _NUMBER)

    def prepare(self, packet: JsonValue) -> Preparation:
        """What must be read out of the packet, and what the packet does not tell."""
        return Preparation(withheld=withheld(self, packet), unfit=unfit(self, packet))

    def classify(self, evidence: Evidence) -> Sequence[Violation]:
        """Faults of the form first, then those of what it says; a call of a tool is none of its business."""
        return tuple(
            Violation(
                ground=one.ground,
                pointer=one.at,
                expected=one.expected,
                got=_told(one),
                missing=one.got is MISSING and one.at is not None,
            )
            for one in grade(self, evidence.packet, evidence.text or "")
        )

    def _problems(self, scenario: Scenario) -> Iterator[SettingProblem]:
        if scenario.packet is None:
            yield SettingProblem(at=(), text="there is no packet to decide about", allowed="a table [packet]")
        for at, field in self.fields.items():
            yield from self._of_field(("fields", at), at, field)
        for index, route in enumerate(self.route):
            yield from condition_problems(route.when, ("route", index, "when"))
            last = index == len(self.route) - 1
            if route.always is not last:
                text = "no route is left for some packets" if last else "no later route is ever taken"
                yield SettingProblem(at=("route", index), text=text, allowed="conditions for all routes but the last")
        for index, one in enumerate(self.never):
            yield from forbidden_problems(self, one.all, ("never", index, "all"))
        names = [one.name for one in self.never]
        for index, name in enumerate(names):
            if name in (*names[:index], *FORMS):
                yield SettingProblem(at=("never", index, "name"), text=f"the name {name!r} is taken")

    def _of_field(self, place: _At, at: str, field: AnswerField) -> Iterator[SettingProblem]:
        if at == "" or any(other != at and other.startswith(f"{at}/") for other in self.fields):
            yield SettingProblem(at=place, text="other fields stand in it", allowed="fields that hold no other one")
        if len(field.derivations) > 1:
            ways = " and ".join(name.removesuffix("_") for name in field.derivations)
            yield SettingProblem(at=place, text=f"held against several things ({ways})", allowed="one of them")
        if field.optional and field.derivations:
            text = "who leaves it out would not be held against anything"
            yield SettingProblem(at=(*place, "optional"), text=text, allowed="optional for free fields only")
        if field.where and not field.derivations:
            yield SettingProblem(
                at=(*place, "where"), text="it is held against nothing", allowed="beside what it must be"
            )
        if field.route and not self.route:
            yield SettingProblem(
                at=(*place, "route"), text="there are no routes", allowed="[[classify.settings.route]]"
            )
        for key, conditions in (("if", field.if_ or {}), ("where", field.where)):
            yield from condition_problems(conditions, (*place, key))
        wrong = tuple(self._of_type(place, field))
        yield from wrong or value_problems(self, field, place)

    def _of_type(self, place: _At, field: AnswerField) -> Iterator[SettingProblem]:
        sort = field.type
        flags = [name for name in ("present", "lacks", "if_") if getattr(field, name) is not None]
        if flags and sort != "flag":
            yield SettingProblem(at=(*place, flags[0].removesuffix("_")), text="true or false", allowed='type = "flag"')
        if field.listed is not None and sort not in {"tokens", "texts"}:
            yield SettingProblem(at=(*place, "listed"), text="an array of names", allowed='type = "tokens"')
        if field.route and sort not in {"text", "token"}:
            yield SettingProblem(at=(*place, "route"), text="a text", allowed='type = "token" or "text"')
        for name in ("one_of", "starts"):
            if getattr(field, name) is not None and sort not in {"text", "token", "tokens", "texts"}:
                yield SettingProblem(
                    at=(*place, name), text="no text is there", allowed="type text, token, texts or tokens"
                )
        for name in ("least", "most"):
            if getattr(field, name) is not None and sort in {"flag", "token"}:
                text = f"a {sort} has no bounds"
                yield SettingProblem(at=(*place, name), text=text, allowed="type text, count, texts, tokens or table")


def _told(fault: Fault) -> JsonValue:
    """What is there, but for numbers: those of a reply are shown as little as its texts. Our own count may be."""
    if fault.got is MISSING:
        return None
    return _NUMBER if fault.ground != "unknown_field" and _holds_number(fault.got) else fault.got


def _holds_number(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_number, value.values()))
    if isinstance(value, list):
        return any(map(_holds_number, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


CLASSIFIER = JsonDecision
