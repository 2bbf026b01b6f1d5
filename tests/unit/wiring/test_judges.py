"""Classifiers of ours and of installed packages, by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from harness import catalog
from harness.errors import CatalogError, EnvironmentProblem
from harness.schema.judging import Classifier
from harness.wiring.judges import CLASSIFIERS


class Mine(Classifier):
    """A plug-in."""


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    catalog.plug_ins.cache_clear()
    yield
    catalog.plug_ins.cache_clear()


def installed(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str]) -> None:
    module = ModuleType("somebodys")
    module.__dict__.update(Mine=Mine, other=dict, made=Mine())
    monkeypatch.setitem(sys.modules, "somebodys", module)
    found = [EntryPoint(name=name, value=value, group="harness.classifiers") for name, value in points]
    monkeypatch.setattr(catalog, "entry_points", lambda *, group: found if group == "harness.classifiers" else [])


def test_the_file_names_are_the_names_and_each_is_a_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    assert "order" in CLASSIFIERS.names()
    for name in CLASSIFIERS.names():
        found = CLASSIFIERS.find(name)
        assert issubclass(found, Classifier)
        assert found.version >= 1


def test_a_plug_in_is_named_like_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("mine", "somebodys:Mine"))
    assert set(CLASSIFIERS.names()) >= {"mine", "order"}
    assert CLASSIFIERS.find("mine") is Mine


def test_a_name_of_ours_cannot_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("order", "somebodys:Mine"))
    with pytest.raises(EnvironmentProblem, match=r"'order' of the package \? has the name of one of harness"):
        CLASSIFIERS.names()


def test_two_packages_cannot_share_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("mine", "somebodys:Mine"), ("mine", "others:Mine"))
    with pytest.raises(EnvironmentProblem, match=r"'mine'.* has the name of one of"):
        CLASSIFIERS.names()


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("somebodys:other", "is no subclass of harness.schema.judging.Classifier"),
        ("somebodys:made", "is no subclass of harness.schema.judging.Classifier"),
        ("somebodys:absent", r"cannot be imported \(somebodys:absent: AttributeError\)"),
        ("nobodys_module:Mine", r"cannot be imported \(nobodys_module:Mine: ModuleNotFoundError\)"),
    ],
)
def test_one_that_cannot_be_used_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, value: str, told: str) -> None:
    installed(monkeypatch, ("mine", value))
    with pytest.raises(EnvironmentProblem, match=f"^classifier 'mine' of the package . {told}$") as caught:
        CLASSIFIERS.find("mine")
    assert caught.value.exit_code == 4


def test_an_unknown_name_lists_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, ("mine", "somebodys:Mine"))
    with pytest.raises(CatalogError, match=r"unknown classifier 'ordre'; there are: .*mine"):
        CLASSIFIERS.find("ordre")
