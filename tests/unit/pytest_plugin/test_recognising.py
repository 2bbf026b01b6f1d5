from __future__ import annotations

from pathlib import Path

import pytest

from harness.pytest_plugin.recognising import is_scenario
from harness.pytest_plugin.snapshots import file_name

TEXT = 'schema = 1\nid = "team/look"\nplane = "loopx==0.4.8"\n'


def written(folder: Path, name: str, text: str = TEXT) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "is_one"),
    [
        ("scenarios/team/look.toml", TEXT, True),
        ("scenarios/team/look.toml", TEXT.replace('"', "'") + "[broken", True),
        ("scenarios/team/look.toml", TEXT.replace("loopx==0.4.8", "registry"), True),
        ("scenarios/team/look.json", TEXT, False),
        ("scenarios/look.toml", TEXT, False),
        ("cases/team/look.toml", TEXT, False),
        ("scenarios/team/look.toml", TEXT.replace("schema = 1", "schema = 12"), False),
        ("scenarios/team/look.toml", TEXT.replace("team/look", "look"), False),
        ("scenarios/team/look.toml", TEXT.replace("==", " "), False),
    ],
)
def test_a_scenario_is_known_by_its_place_and_what_it_says(
    tmp_path: Path, name: str, text: str, *, is_one: bool
) -> None:
    assert is_scenario(written(tmp_path, name, text), ()) is is_one


def test_in_a_folder_that_was_named_every_file_is_a_scenario(tmp_path: Path) -> None:
    cases = tmp_path / "cases"
    assert is_scenario(written(tmp_path, "cases/team/look.toml", "anything"), (cases,))
    assert not is_scenario(written(tmp_path, "scenarios/team/look.toml"), (cases,))


def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    assert not is_scenario(tmp_path / "scenarios" / "team" / "gone.toml", ())


@pytest.mark.parametrize(
    ("actor", "name"),
    [
        ("script:reference", "script-reference.json"),
        ("recorded:openai--x.1", "recorded-openai--x.1.json"),
        ("script:a/b c#1", "script-a%2Fb%20c%231.json"),
    ],
)
def test_a_snapshot_is_named_after_its_actor(actor: str, name: str) -> None:
    assert file_name(actor) == name
