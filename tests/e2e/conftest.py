"""The whole tool as people start it, against the real control plane."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine


@pytest.fixture
def line(plane_home: Path, tmp_path: Path) -> CommandLine:
    """The command with folders of its own."""
    return CommandLine(plane_home, tmp_path)
