"""What the environment says, and nothing that may not be shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness import wiring
from harness.errors import CatalogError, EnvironmentProblem
from harness.wiring.places import own_file


def test_the_users_scenarios_come_before_the_bundled_ones(tmp_path: Path) -> None:
    place = wiring.settings({"HARNESS_HOME": str(tmp_path)}, tmp_path)
    assert place.search[0] == tmp_path / "scenarios"
    bundled = wiring.scenarios(place)["loopx/selected-todo"]
    own = tmp_path / "scenarios" / "loopx"
    own.mkdir(parents=True)
    (own / "selected-todo.toml").write_bytes(bundled.read_bytes())
    assert wiring.scenarios(place)["loopx/selected-todo"] == own / "selected-todo.toml"
    assert "loopx/capability-repair" in wiring.scenarios(place)


def test_a_scenario_may_be_named_by_its_file(tmp_path: Path) -> None:
    place = wiring.settings({}, tmp_path)
    path = wiring.scenarios(place)["loopx/selected-todo"]
    assert wiring.load_scenario(place, str(path)) == wiring.load_scenario(place, "loopx/selected-todo")


def test_a_file_is_named_as_the_repository_calls_it_and_a_bundled_one_is_in_none(tmp_path: Path) -> None:
    place = wiring.settings({}, tmp_path)
    bundled = wiring.load_scenario(place, "loopx/selected-todo")
    assert own_file(place, bundled) == ""
    above = Path(bundled.path).resolve().parents[2]
    assert own_file(wiring.settings({}, above.parent), bundled) == "", "an environment in the repository"
    assert own_file(wiring.settings({}, above), bundled) == "scenarios/loopx/selected-todo.toml"
    own = tmp_path / "scenarios" / "loopx"
    own.mkdir(parents=True)
    (own / "selected-todo.toml").write_bytes(Path(bundled.path).read_bytes())
    found = wiring.load_scenario(place, "loopx/selected-todo")
    assert own_file(place, found) == "scenarios/loopx/selected-todo.toml"


def test_an_unknown_scenario_lists_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=r"there are: loopx/capability-repair, .*loopx/selected-todo, .*registry/"):
        wiring.load_scenario(wiring.settings({}, tmp_path), "loopx/nothing")


def test_the_home_is_the_users_data_folder_unless_it_is_set(tmp_path: Path) -> None:
    assert wiring.settings({"HARNESS_HOME": str(tmp_path / "x")}, tmp_path).home == tmp_path / "x"
    assert wiring.settings({}, tmp_path).home.name == "harness"
    assert wiring.settings({"HARNESS_HOME": ""}, tmp_path).home == wiring.settings({}, tmp_path).home


def test_the_representation_of_settings_shows_no_variable(tmp_path: Path) -> None:
    place = wiring.settings({"OPENAI_API_KEY": "sk-made-up-canary"}, tmp_path)
    assert "canary" not in repr(place)


def test_every_reporter_has_a_file_of_its_own() -> None:
    found = wiring.reporters()
    assert {"html", "junit", "terminal"} <= set(found)
    assert len({reporter.filename for reporter in found.values()}) == len(found)


@pytest.mark.parametrize(
    ("given", "searched"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (":/usr/bin::/bin:", "/usr/bin:/bin"),
        (".:/usr/bin:bin:../x:~/bin", "/usr/bin"),
        (".", os.defpath),
        ("", os.defpath),
        (None, os.defpath),
    ],
)
def test_programs_are_never_looked_for_where_a_command_happens_to_run(
    tmp_path: Path, given: str | None, searched: str
) -> None:
    place = wiring.settings({} if given is None else {"PATH": given}, tmp_path)
    assert place.search_path == searched


def test_a_home_of_nobody_is_told_by_its_variable(tmp_path: Path) -> None:
    with pytest.raises(
        EnvironmentProblem, match="the environment variable HARNESS_HOME begins with the home of nobody"
    ):
        wiring.settings({"HARNESS_HOME": "~no-such-user-here/x"}, tmp_path)


def test_a_working_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(EnvironmentProblem, match="the working folder cannot be used"):
        wiring.settings({})
