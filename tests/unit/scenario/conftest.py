from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.scenario import load
from harness.schema.scenario import Scenario

WHOLE = Path(__file__).parents[2] / "data" / "scenarios" / "demo" / "whole.toml"


@pytest.fixture
def text() -> str:
    """A scenario file that uses every part of the schema."""
    return WHOLE.read_text(encoding="utf-8")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a text as the file of the scenario ``demo/whole``."""

    def to_file(content: str) -> Path:
        path = tmp_path / "demo" / "whole.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    return to_file


@pytest.fixture
def whole() -> Scenario:
    """The scenario of that file."""
    return load(WHOLE, grammars=frozenset({"loopx-0.4"})).scenario
