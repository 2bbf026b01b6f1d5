from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import CatalogError, ScenarioError
from harness.scenario import discover, select

IDS = ("demo/a", "demo/b", "loopx/a")
TAGS = {"demo/a": ("slow", "tier:pr"), "demo/b": ("tier:nightly",), "loopx/a": ("tier:pr",)}


def put(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")
    return path


def test_first_folder_wins_and_ids_are_sorted(tmp_path: Path) -> None:
    own, bundled = tmp_path / "own", tmp_path / "bundled"
    late = put(own, "demo/z.toml")
    mine = put(own, "demo/b-1.toml")
    put(bundled, "demo/b-1.toml")
    other = put(bundled, "demo/a.toml")
    put(bundled, "README.md")
    put(bundled, "demo/notes.txt")
    put(bundled, "demo/deeper/c.toml")
    found = discover([own, tmp_path / "none", bundled])
    assert list(found.items()) == [("demo/a", other), ("demo/b-1", mine), ("demo/z", late)]


@pytest.mark.parametrize("name", ["demo/Big.toml", "Demo/a.toml", "demo/a_b.toml", "demo/.toml"])
def test_file_whose_name_cannot_be_an_id_is_refused(tmp_path: Path, name: str) -> None:
    put(tmp_path, name)
    with pytest.raises(ScenarioError, match="cannot be a scenario id"):
        discover([tmp_path])


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ((), IDS),
        (("loopx/a", "demo/b"), ("demo/b", "loopx/a")),
        (("demo/*",), ("demo/a", "demo/b")),
        (("*/a", "demo/a"), ("demo/a", "loopx/a")),
        (("demo/[b]",), ("demo/b",)),
        (("nothing/*",), ()),
        (("tag:tier:pr",), ("demo/a", "loopx/a")),
        (("tag:tier:*",), IDS),
        (("tag:tier",), ()),
        (("tag:slow", "loopx/*"), ("demo/a", "loopx/a")),
    ],
)
def test_patterns_choose_ids_in_their_order(patterns: tuple[str, ...], chosen: tuple[str, ...]) -> None:
    assert select(IDS, patterns, tags=lambda name: TAGS[name]) == chosen


def test_unknown_id_is_refused_with_what_exists() -> None:
    with pytest.raises(CatalogError, match="unknown scenario 'demo/c'; there are: demo/a, demo/b, loopx/a"):
        select(IDS, ["demo/*", "demo/c"])


def test_tags_are_asked_for_by_tag_patterns_only() -> None:
    def tags(name: str) -> tuple[str, ...]:
        raise AssertionError(name)

    assert select(IDS, ["demo/*"], tags=tags) == ("demo/a", "demo/b")
