"""Real processes, a temporary place, and an actor that can be held."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy import Stage

from harness import catalog
from harness.ports import Executor


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    """Real processes."""
    made: Executor = catalog.module("executors", "process").ProcessExecutor()
    yield made
    made.close()


@pytest.fixture
def stage(executor: Executor, tmp_path: Path) -> Stage:
    """A place to play episodes in; its temporary directory is looked at by tests."""
    return Stage(executor, tmp_path)


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """An event that a test's actor waits on; set at the end so that no thread stays behind."""
    event = threading.Event()
    yield event
    event.set()
