"""Settings of a decision that no answer could ever fit, or that no packet could ever meet."""

from __future__ import annotations

from collections.abc import Iterator

from harness.classifiers._decision.fitting import misfit
from harness.classifiers._decision.settings import AnswerField, DecisionSettings
from harness.classifiers._expecting import expectation_problems
from harness.schema.base import JsonValue
from harness.schema.classifier import SettingProblem
from harness.schema.name import Pointer
from harness.schema.packet import EACH, Conditions
from harness.schema.rules import AnswerCheck

__all__ = ["condition_problems", "forbidden_problems", "value_problems"]

_At = tuple[str | int, ...]


def value_problems(settings: DecisionSettings, field: AnswerField, place: _At) -> Iterator[SettingProblem]:
    """Values that a field must have and, by its own form, must not."""
    if field.least is not None and field.most is not None and field.most < field.least:
        yield SettingProblem(at=(*place, "most"), text="fewer than the least", allowed=f"{field.least} or more")
    for at, value, whole in _declared(settings, field, place):
        form = field if whole else field.model_copy(update={"least": None, "most": None})
        if misfit(form, value) is not None:
            allowed = f"what its type {field.type} allows" if field.one_of is None else ", ".join(field.one_of)
            yield SettingProblem(at=at, text="the field cannot have this value", allowed=allowed)


def condition_problems(conditions: Conditions, place: _At) -> Iterator[SettingProblem]:
    """Tests that are none of one value."""
    for at, expectation in conditions.items():
        yield from expectation_problems(expectation, (*place, at))
        if EACH in at and isinstance(expectation, AnswerCheck) and expectation.same_as is not None:
            text = "what every element has is held against no other place"
            yield SettingProblem(at=(*place, at, "same_as"), text=text, allowed="a test of one value")


def forbidden_problems(settings: DecisionSettings, conditions: Conditions, place: _At) -> Iterator[SettingProblem]:
    """Places of a combination that are in no answer and in no packet, beside what is wrong with its tests."""
    for at in conditions:
        side, _, rest = at.removeprefix("/").partition("/")
        if side not in {"answer", "packet"}:
            text = f"{at!r} points at nothing that is known of a decision"
            yield SettingProblem(at=(*place, at), text=text, allowed="/answer… or /packet…")
        elif side == "answer" and EACH not in at and not any(_meet(f"/{rest}", field) for field in settings.fields):
            text = f"the answer has no field {f'/{rest}'!r}"
            yield SettingProblem(
                at=(*place, at), text=text, allowed=", ".join(f"/answer{one}" for one in settings.fields)
            )
    yield from condition_problems(conditions, place)


def _meet(at: str, field: Pointer) -> bool:
    """Whether a place is that of a field, in it, or around it."""
    return at == "/" or f"{at}/".startswith(f"{field}/") or field.startswith(f"{at}/")


def _declared(settings: DecisionSettings, field: AnswerField, place: _At) -> Iterator[tuple[_At, JsonValue, bool]]:
    """Every value that the settings give a field: its place, the value, and whether it is the whole of it."""
    many = field.type in {"tokens", "texts"}
    for index, text in enumerate(field.one_of or ()):
        yield (*place, "one_of", index), [text] if many else text, False
    if field.equals is not None:
        yield (*place, "equals"), field.equals, True
    for key, value in {} if field.mapped is None else field.mapped.to.items():
        yield (*place, "mapped", "to", key), value, True
    for index, name in enumerate(() if field.listed is None else field.listed.of):
        yield (*place, "listed", "of", index), [name], False
    for index, route in enumerate(settings.route if field.route else ()):
        yield ("route", index, "to"), route.to, True
