"""Classifiers as the catalog gives them, and evidence in a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import pytest

from harness import catalog
from harness.schema.base import JsonValue
from harness.schema.judging import Classifier
from harness.schema.scenario import Scenario


class Make(Protocol):
    """Makes a classifier of its settings."""

    def __call__(self, **settings: JsonValue) -> Classifier: ...


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Make:
    """Makes the classifier that the module of the test is named by, with these settings."""
    name = Path(request.path).stem.removeprefix("test_")
    kind: type[Classifier] = catalog.module("classifiers", name).CLASSIFIER

    def made(**settings: JsonValue) -> Classifier:
        return kind.model_validate_json(json.dumps(settings))

    return made


@pytest.fixture
def scenario() -> Scenario:
    """A scenario with the kinds of the toy."""
    from toy import SCENARIO

    return Scenario.model_validate_json(json.dumps(SCENARIO))
