"""A scenario's digest is over what an episode can depend on, and its parts are named as a person edits them."""

from __future__ import annotations

from pathlib import Path

import pytest
from testing_project import SCENARIO

from harness.scenario import load
from harness.schema.scenario import LoadedScenario


def loaded(folder: Path, old: str = "", new: str = "") -> LoadedScenario:
    path = folder / "team/look.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    assert old in SCENARIO
    path.write_text(SCENARIO.replace(old, new, 1) if old else SCENARIO, "utf-8")
    return load(path, grammars=frozenset({"loopx-0.4"}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The agent reads the file", "It reads the file"),
        ('plane = "loopx', 'tags = ["new"]\nplane = "loopx'),
        ("[script.wrong]", '[script.wrong]\nnever_looked = ["date", "date", "date"]'),
        ("[limits]", "[limits] # a comment"),
        ("[limits]", '[waiver]\nwaived = [{ what = "code never_looked", reason = "it is told by hand" }]\n[limits]'),
    ],
)
def test_what_no_episode_depends_on_is_left_out(tmp_path: Path, old: str, new: str) -> None:
    before, after = loaded(tmp_path), loaded(tmp_path, old, new)
    assert (after.digest, after.parts) == (before.digest, before.parts)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("model_turns = 3", "model_turns = 4", {"limits.model_turns"}),
        ('"never_looked"', '"too_late"', {"outcomes.limit_exceeded/model_turns"}),
        ("'{\"answer\": 41}'", "'{\"answer\": 40}'", {"workspace.file[1].text"}),
        ("Read right.json.", "Read it.", {"prompt.user"}),
        ("Runs one command.", "Runs it.", {"tool.exec.about"}),
        ('failed = "look_failed"', 'failed = "not_read"', {"kind[look].failed"}),
        ('reads = "all"', 'reads = "any"', {"check[0]"}),
        ("silence = [{ code", "silence = [{ has = [], code", set()),
        (
            '[end]\naccept = ["seen"]',
            '[boundary]\ntool_writes = ["project/x"]\n[end]\naccept = ["seen"]',
            {"boundary.tool_writes"},
        ),
    ],
)
def test_a_changed_part_is_named_and_changes_the_digest(tmp_path: Path, old: str, new: str, names: set[str]) -> None:
    before, after = loaded(tmp_path), loaded(tmp_path, old, new)
    changed = {name for name in {**before.parts, **after.parts} if before.parts.get(name) != after.parts.get(name)}
    assert changed == names
    assert (before.digest != after.digest) == bool(names)


def test_the_order_of_kinds_is_a_part(tmp_path: Path) -> None:
    clock = '[[kind]]\nname = "clock"\nread = "clock"\n'
    moved = SCENARIO.replace(clock, "").replace("[end]", f"{clock}\n[end]")
    before, after = loaded(tmp_path), loaded(tmp_path, SCENARIO, moved)
    assert {name for name in after.parts if before.parts[name] != after.parts[name]} == {"kind[]"}
    assert before.digest != after.digest


def test_parts_are_short_digests(tmp_path: Path) -> None:
    parts = loaded(tmp_path).parts
    assert all(len(digest) == 12 for digest in parts.values())
    assert list(parts) == sorted(parts)
