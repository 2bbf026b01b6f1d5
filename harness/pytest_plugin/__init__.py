"""Scenario files as tests: each scenario and actor is played, its receipt compared with a snapshot.

pytest loads this in every project that has harness installed, so nothing here imports more of harness than it must
before there is a scenario to play.
"""

from harness.pytest_plugin.fixtures import harness_session, harness_settings
from harness.pytest_plugin.hooks import (
    pytest_addoption,
    pytest_collect_file,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_report_header,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)

__all__ = [
    "harness_session",
    "harness_settings",
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
