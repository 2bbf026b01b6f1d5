"""Classifiers that a scenario names: they exist, and take the settings that they are given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from pydantic import ValidationError

from harness.errors import CatalogError
from harness.ports import Classifiers
from harness.scenario.problem import KeyPath, Problem, nearest
from harness.scenario.schema_errors import schema_problems
from harness.schema.judging import Classifier
from harness.schema.scenario import Scenario

__all__ = ["NoClassifiers", "classifier_problems", "setting_problems"]


class NoClassifiers:
    """There are none."""

    def names(self) -> Sequence[str]:
        """None."""
        return ()

    def find(self, name: str) -> type[Classifier]:
        """Raises CatalogError."""
        raise CatalogError("classifier", name, ())


def classifier_problems(scenario: Scenario, classifiers: Classifiers) -> Iterator[Problem]:
    """Classifiers that there are not. Raises EnvironmentProblem for a plug-in that cannot be used."""
    known = classifiers.names() if scenario.classify else ()
    for index, spec in enumerate(scenario.classify):
        if spec.by not in known:
            text = f"unknown classifier {spec.by!r}{nearest(spec.by, known)}"
            yield Problem(("classify", index, "by"), text, ", ".join(known))


def setting_problems(bound: Scenario, classifiers: Classifiers) -> Iterator[Problem]:
    """What each classifier says of its settings, once values are in place; codes for what it does not tell apart."""
    for index, spec in enumerate(bound.classify):
        path: KeyPath = ("classify", index, "settings")
        kind = classifiers.find(spec.by)
        try:
            made = kind.model_validate_json(json.dumps(spec.settings))
        except ValidationError as error:
            found = schema_problems(error, dict(spec.settings), kind.model_json_schema(by_alias=True))
            yield from (Problem((*path, *one.path), one.text, one.allowed) for one in found)
            continue
        grounds = (*kind.grounds, *made.own_grounds())
        for ground in spec.codes:
            if ground not in grounds:
                text = f"{spec.by!r} does not tell {ground!r} apart{nearest(ground, grounds)}"
                yield Problem(("classify", index, "codes", ground), text, ", ".join(grounds) or "no codes: only code")
        for wrong in made.problems(bound):
            yield Problem((*path, *wrong.at), wrong.text, wrong.allowed)
