"""How much of each provider a run takes."""

from __future__ import annotations

from pathlib import Path

from harness import wiring
from harness.suite import Care


def test_the_command_line_goes_over_the_file(tmp_path: Path) -> None:
    text = "[providers.openai]\nconcurrency = 3\n[providers.ark]\n[providers.openai-compatible]\nconcurrency = 2\n"
    (tmp_path / "harness.toml").write_text(text, "utf-8")
    place = wiring.settings({"HARNESS_HOME": str(tmp_path)}, tmp_path)

    made = wiring.care(place, ("openai=5",), retries=1, refusals=4)

    assert made == Care(concurrency={"openai": 5, "openai-compatible": 2}, retries=1, refusals=4)
