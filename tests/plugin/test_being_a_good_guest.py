"""Projects that merely have harness installed notice nothing, and mistakes are told in a line."""

from __future__ import annotations

import pytest
from testing_project import SCENARIO, Project

pytestmark = [pytest.mark.plane, pytest.mark.slow]

OWN_TEST = "def test_nothing():\n    pass\n"


def test_files_that_are_no_scenarios_are_left_alone(bare: Project) -> None:
    bare.write("test_own.py", OWN_TEST)
    bare.write("scenarios/load/peak.toml", 'schema = 1\nname = "peak"\n')
    bare.write("scenarios/look.toml", SCENARIO)
    bare.write("other/team/look.toml", SCENARIO)
    bare.write("recordings/team/gone/openai--x.jsonl", "")
    done = bare.pytest("-v")
    assert done.returncode == 0, done.stdout
    assert "collected 1 item" in done.stdout
    assert "harness:" not in done.stdout


def test_pydantic_is_not_loaded_where_there_is_no_scenario(bare: Project) -> None:
    bare.write("test_own.py", "import sys\n\ndef test_light():\n    assert 'pydantic' not in sys.modules\n")
    done = bare.pytest("-q", "-p", "no:respx", "-p", "no:anyio")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("switch", "told"), [("no:harness", 0), ("no:syrupy", 1)])
def test_nothing_is_collected_without_the_plugin_or_without_syrupy_and_the_latter_is_said(
    bare: Project, switch: str, told: int
) -> None:
    bare.scenario()
    bare.write("test_own.py", OWN_TEST)
    done = bare.pytest("-p", switch)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "collected 1 item" in done.stdout
    assert done.stdout.count("pip install 'behavior-harness[pytest]'") == told


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("[prompt]", "[promt]", "prompt: this key is missing"),
        ("[limits]", "[limits", "is no TOML"),
        ('id = "team/look"', 'id = "team/copied"', "team/copied"),
    ],
)
def test_a_broken_scenario_is_told_and_not_passed_over(bare: Project, good: str, bad: str, said: str) -> None:
    bare.scenario(text=SCENARIO.replace(good, bad))
    done = bare.pytest("-q")
    assert done.returncode == 2, done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("harness: ")]
    assert "scenarios/team/look.toml" in line
    assert said in line
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--harness-actor=openai/gpt", "'openai/gpt' cannot play in a test; there are: recorded, recorded:ID, script"),
        ("--harness-actor=script:nobody", "no collected scenario has script:nobody"),
        ("--harness-trials=0", "--harness-trials is 0"),
    ],
)
def test_an_option_that_cannot_be_used_is_told(bare: Project, option: str, said: str) -> None:
    bare.scenario()
    done = bare.pytest("-q", option)
    assert done.returncode == 4, done.stdout
    assert f"ERROR: harness: {said}" in done.stdout + done.stderr


def test_fixtures_of_the_project_reach_scenarios(bare: Project) -> None:
    bare.scenario()
    bare.write(
        "conftest.py",
        "import pytest\nfrom harness import wiring\n\n"
        "@pytest.fixture(scope='session')\ndef harness_settings():\n"
        f"    return wiring.settings({{'HARNESS_HOME': {str(bare.home)!r}, 'PATH': '/usr/bin:/bin'}})\n\n"
        "@pytest.fixture(autouse=True, scope='module')\ndef around():\n    print('seen'); yield\n",
    )
    done = bare.pytest("-q", "--snapshot-update", HARNESS_HOME="/nonexistent")
    assert done.returncode == 0, done.stdout
    assert list(bare.snapshots()) == ["snapshots/team/look/script-reference.json"]
