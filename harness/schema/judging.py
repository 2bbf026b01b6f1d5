"""The base of classifiers: values that judge other values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from harness.schema.base import Frozen, JsonValue
from harness.schema.classifier import Evidence, SettingProblem, Violation
from harness.schema.packet import Preparation
from harness.schema.scenario import Scenario
from harness.schema.verdict import Cause

__all__ = ["Classifier"]


class Classifier(Frozen):
    """Judges an episode that is over by all its evidence. A subclass's fields are its settings, checked strictly.

    ``version`` (from 1) is raised whenever the same evidence may be judged differently. ``grounds`` are what it tells
    apart, each of which a scenario may give a code of its own. ``cause`` is whose fault a violation is.
    """

    version: ClassVar[int] = 1
    grounds: ClassVar[tuple[str, ...]] = ()
    cause: ClassVar[Cause] = "model"

    def problems(self, scenario: Scenario) -> Sequence[SettingProblem]:
        """What is wrong with these settings in this scenario, found when its file is read."""
        del scenario
        return ()

    def own_grounds(self) -> Sequence[str]:
        """What it tells apart besides ``grounds``, with these settings."""
        return ()

    def prepare(self, packet: JsonValue) -> Preparation:
        """What it makes of the scenario's packet before anybody is asked; pure."""
        del packet
        return Preparation()

    def phrases(self) -> Sequence[str]:
        """Words of its own that findings may show, made of the settings alone: what was wanted."""
        return ()

    def classify(self, evidence: Evidence) -> Sequence[Violation]:
        """Everything that is wrong, the gravest first; pure: the same for the same evidence."""
        raise NotImplementedError
