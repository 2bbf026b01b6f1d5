from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import pytest

from harness import wiring
from harness.errors import ScenarioError
from harness.scenario import load
from harness.schema.classifier import ClassifierSpec
from harness.schema.scenario import LoadedScenario
from harness.wiring.judges import CLASSIFIERS


class Harness(Protocol):
    def __call__(self, *argv: str) -> tuple[int, str, str]: ...


class World(Protocol):
    """As made in conftest."""

    names: tuple[str, ...]
    folder: Path


def test_list_tells_every_scenario_in_each_form(harness: Harness, world: World) -> None:
    code, out, err = harness("scenario", "list")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "scenario  plane         asks",
        "pack/a    loopx==0.4.8  Look at the target.",
        "pack/b    loopx==0.4.8  Look at the target.",
    ]
    lines = [json.loads(line) for line in harness("scenario", "list", "--format", "jsonl")[1].splitlines()]
    assert [(line["id"], line["tags"]) for line in lines] == [("pack/a", ["tier:pr"]), ("pack/b", [])]
    assert json.loads(harness("scenario", "list", "--format", "json")[1]) == {"scenarios": lines}


def test_list_goes_on_after_a_broken_file_and_exits_4(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = wiring.load_scenario

    def broken(place: wiring.Settings, name: str) -> LoadedScenario:
        if name == "pack/a":
            raise ScenarioError("pack/a.toml", "is no TOML", line=3)
        return load(place, name)

    monkeypatch.setattr(wiring, "load_scenario", broken)

    code, out, err = harness("scenario", "list")

    assert (code, err) == (4, "harness: pack/a.toml:3: is no TOML\n")
    assert "pack/b" in out


def test_list_of_nothing_exits_5(harness: Harness, world: World) -> None:
    world.names = ()

    code, out, err = harness("scenario", "list")

    assert (code, out) == (5, "")
    assert str(world.folder / "scenarios") in err


def test_show_tells_kinds_codes_silence_and_scripts(harness: Harness, world: World) -> None:
    code, out, _ = harness("scenario", "show", "pack/a")

    assert code == 0
    assert [" ".join(line.split()) for line in out.splitlines()] == [
        "pack/a",
        "Look at the target.",
        "plane loopx==0.4.8",
        "tags tier:pr",
        "file scenarios/pack/a.toml",
        "digest sha256:pack/a",
        "passes with the facts seen",
        "",
        "kind sets codes",
        "look seen look_failed",
        "",
        "stopping with code",
        "no seen stopped",
        "",
        "script --actor",
        "reference script",
        "wrong script:stopped",
    ]


def test_show_tells_who_else_judges(harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    load = wiring.load_scenario
    spec = ClassifierSpec(by="order", code="out_of_order", codes={"between": "too_late"}, when="judged")

    def judged(place: wiring.Settings, name: str) -> LoadedScenario:
        found = load(place, name)
        return found.model_copy(update={"scenario": found.scenario.model_copy(update={"classify": (spec,)})})

    monkeypatch.setattr(wiring, "load_scenario", judged)
    out = harness("scenario", "show", "pack/a")[1]
    lines = [" ".join(line.split()) for line in out.splitlines()]
    at = lines.index("classifier asked when codes")
    assert lines[at - 1 : at + 3] == ["", "classifier asked when codes", "order judged out_of_order, too_late", ""]


def test_show_as_json_is_the_scenario_itself(harness: Harness, world: World) -> None:
    printed = json.loads(harness("scenario", "show", "pack/a", "--format", "json")[1])

    assert printed["digest"] == "sha256:pack/a"
    assert printed["scenario"]["end"]["accept"] == ["seen"]


def test_schema_is_the_json_schema_of_scenario_files(harness: Harness) -> None:
    schema = json.loads(harness("scenario", "schema")[1])

    assert {"schema", "id", "kind", "end"} <= set(schema["properties"])


def test_show_of_a_decision_tells_what_breaks_its_packet_and_no_kinds(
    harness: Harness, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(__file__).parents[1] / "data/decisions/postcondition.toml"
    loaded = load(path, grammars=frozenset(), classifiers=CLASSIFIERS)
    monkeypatch.setattr(wiring, "load_scenario", lambda *_: loaded)
    code, out, _ = harness("scenario", "show", "decisions/postcondition")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert code == 0
    assert "passes by its answer alone" in lines
    assert "packet that breaks code" in lines
    assert "/executable_todo_count todo_count_is_none" in lines
    told = lines[lines.index("classifier asked when codes") + 1]
    assert told == "json_decision passing semantic_contract_mismatch, next_action_mismatch, route_mismatch"
    assert not [line for line in lines if line.startswith(("kind ", "stopping "))]
