"""What a scenario needs to be played, made once for each worker; a project may put its own in their place."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness.wiring import Session, Settings

__all__ = ["harness_session", "harness_settings"]


@pytest.fixture(scope="session")
def harness_settings() -> Settings:
    """Where control planes are installed, and the environment; a ``conftest.py`` may give another."""
    made: Settings = import_module("harness.wiring").settings()
    return made


@pytest.fixture(scope="session")
def harness_session(harness_settings: Settings) -> Iterator[Session]:
    """Executors of the control plane that stay open between tests."""
    import_module("harness.workspace").sweep()
    opened: Session = import_module("harness.wiring").Session(harness_settings)
    with opened:
        yield opened
