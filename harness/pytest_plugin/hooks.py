"""The hooks: what pytest calls, and when."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final, Protocol

import pytest

from harness.pytest_plugin.ledger import LEDGER, Ledger
from harness.pytest_plugin.options import actors, add_options, scenario_folders, trials
from harness.pytest_plugin.recognising import is_scenario

__all__ = [
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_report_header",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
]

_SENT: Final = "harness_ledger"
_LEFT: Final = pytest.StashKey[tuple[str, ...]]()
_COUNT: Final = pytest.StashKey[int]()


class _Worker(Protocol):
    """A worker of pytest-xdist as its controller sees it."""

    config: pytest.Config
    workeroutput: dict[str, object]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options on the command line and in the configuration file."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Start with nothing planned. Raises pytest.UsageError for options that cannot be used."""
    actors(config)
    trials(config)
    config.stash[LEDGER] = Ledger()
    config.addinivalue_line("markers", "harness: a scenario played by one actor")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that scenarios are there and nobody can compare their receipts."""
    if config.pluginmanager.hasplugin("syrupy") or not _scenarios_below(config):
        return None
    return "harness: scenarios are not collected, for syrupy is missing; type: pip install 'behavior-harness[pytest]'"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A scenario file is a collection of tests, where syrupy is there to compare their receipts."""
    config = parent.config
    if not is_scenario(file_path, scenario_folders(config)) or not config.pluginmanager.hasplugin("syrupy"):
        return None
    collecting = import_module("harness.pytest_plugin.collecting")
    made: pytest.Collector = collecting.ScenarioFile.from_parent(parent, path=file_path)
    return made


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    """Refuse a script or recording that was asked for and that no collected scenario has."""
    ledger = config.stash[LEDGER]
    named = [actor for actor in actors(config) if actor.startswith(("script:", "recorded:"))]
    unknown = [actor for actor in named if actor not in ledger.met]
    if ledger.files and unknown:
        there = f"; there are: {', '.join(sorted(ledger.recorded)) or 'no recordings'}"
        listed = there if any(actor.startswith("recorded:") for actor in unknown) else ""
        raise pytest.UsageError(f"harness: no collected scenario has {', '.join(unknown)}{listed}")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count what is chosen of what was planned."""
    files = session.config.stash[LEDGER].files
    for item in session.items:
        entry = files.get(str(item.path))
        if entry is not None:
            entry.chosen += 1


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail for what is left over: only the process that answers for the whole session looks, and only it deletes."""
    config = session.config
    ledger = config.stash.get(LEDGER, Ledger())
    output: dict[str, object] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output[_SENT] = ledger.dumped()
        return
    if not ledger.files or config.option.collectonly:
        return
    found = import_module("harness.pytest_plugin.leftovers").look(config, ledger)
    config.stash[_LEFT], config.stash[_COUNT] = found.lines, found.count
    if found.fails and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: _Worker) -> None:
    """Take what a worker of pytest-xdist knows."""
    sent = getattr(node, "workeroutput", {}).get(_SENT)
    if isinstance(sent, str):
        node.config.stash[LEDGER].merge(sent)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell what is left over, and count it in pytest's last line, which would else know of passed tests only."""
    lines = config.stash.get(_LEFT, ())
    if lines:
        terminalreporter.section("harness: left over")
        for line in lines:
            terminalreporter.line(line)
    count = config.stash.get(_COUNT, 0)
    if count:
        terminalreporter.stats.setdefault("left over", []).extend([None] * count)


def _scenarios_below(config: pytest.Config) -> bool:
    folders = scenario_folders(config)
    places = folders or (config.rootpath / "scenarios",)
    return any(is_scenario(path, folders) for place in places for path in place.glob("*/*.toml"))
