"""``[[classify]]``: classifiers that there are, with settings that they take, told by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import Field

from harness.errors import CatalogError, ScenarioError
from harness.scenario import load
from harness.schema.classifier import SettingProblem
from harness.schema.judging import Classifier
from harness.schema.scenario import LoadedScenario, Scenario

Write = Callable[[str], Path]


class Count(Classifier):
    """Wants a small number, and a root of the scenario."""

    version: ClassVar[int] = 4
    grounds: ClassVar[tuple[str, ...]] = ("above", "below")

    most: int = Field(ge=1, le=9)
    root: str = "home"
    place: str = Field(default="", max_length=12)

    def problems(self, scenario: Scenario) -> Sequence[SettingProblem]:
        if self.root in scenario.workspace.roots:
            return ()
        return (SettingProblem(at=("root",), text="no such root", allowed="a root"),)


class One:
    """There is one."""

    def names(self) -> Sequence[str]:
        return ("count",)

    def find(self, name: str) -> type[Classifier]:
        if name != "count":
            raise CatalogError("classifier", name, ("count",))
        return Count


def loaded(text: str, write: Write, table: str) -> LoadedScenario:
    path = write(text.replace("[script]\n", f"[[classify]]\n{table}\n[script]\n", 1))
    return load(path, grammars=frozenset({"loopx-0.4"}), classifiers=One())


FAULTS = {
    "unknown": ('by = "cuont"\ncode = "c"', "classify[0].by", "did you mean 'count'?; allowed: count"),
    "no code": ('by = "count"', "classify[0].code", "missing"),
    "a setting is missing": ('by = "count"\ncode = "c"', "classify[0].settings.most", "missing"),
    "unknown setting": (
        'by = "count"\ncode = "c"\nsettings = { mosst = 1, most = 1 }',
        "classify[0].settings.mosst",
        "did you mean 'most'?",
    ),
    "out of range": ('by = "count"\ncode = "c"\nsettings = { most = 10 }', "classify[0].settings.most", "<= 9"),
    "its own rule": (
        'by = "count"\ncode = "c"\nsettings = { most = 1, root = "nowhere" }',
        "classify[0].settings.root",
        "no such root; allowed: a root",
    ),
    "unknown ground": (
        'by = "count"\ncode = "c"\ncodes = { abov = "d" }\nsettings = { most = 1 }',
        "classify[0].codes.abov",
        "did you mean 'above'?; allowed: above, below",
    ),
    "only with its values in place": (
        'by = "count"\ncode = "c"\nsettings = { most = 1, place = "{home_root}{home_root}" }',
        "classify[0].settings.place",
        "at most 12 characters",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_by_its_line_and_key(name: str, text: str, write: Write) -> None:
    table, key, told = FAULTS[name]
    with pytest.raises(ScenarioError) as caught:
        loaded(text, write, table)
    assert caught.value.key == key
    assert told in str(caught.value)
    assert (caught.value.line or 0) > text[: text.index("[script]\n")].count("\n")


def test_what_fits_is_loaded_with_its_version_and_its_codes(text: str, write: Write) -> None:
    settings = 'settings = { most = 1, place = "{home_root}" }'
    table = f'by = "count"\ncode = "c_judged"\ncodes = {{ above = "c_above" }}\n{settings}'
    found = loaded(text, write, table)
    assert (found.classifiers, found.judged_by) == ({"count": 4}, 3)
    assert {"c_judged", "c_above"} <= set(found.scenario.codes)
    assert "classify[0]" in found.parts


def test_who_names_none_needs_none_and_has_the_same_digest(text: str, write: Write) -> None:
    path = write(text)
    grammars = frozenset({"loopx-0.4"})
    assert load(path, grammars=grammars, classifiers=One()) == load(path, grammars=grammars)


def test_where_there_are_none_none_can_be_named(text: str, write: Write) -> None:
    path = write(text.replace("[script]\n", '[[classify]]\nby = "count"\ncode = "c"\n[script]\n', 1))
    with pytest.raises(ScenarioError, match="unknown classifier 'count'"):
        load(path, grammars=frozenset({"loopx-0.4"}))
