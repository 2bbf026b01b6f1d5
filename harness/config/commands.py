"""Which options of commands have a default that a file or the environment may set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

__all__ = ["COMMANDS", "REPORTS", "Kind", "variable"]

#: What stands in the file for an option. ``texts`` is one text or a list of them.
Kind = Literal["whole number", "number", "text", "texts", "true or false"]

#: The folder that runs are written below; it is no command's own.
REPORTS: Final = "reports"

#: By command the options, as the file calls them: ``cut_off_calls`` is ``--cut-off-calls``. What may be spent is none
#: of them: that is somebody's word, given each time. What a command plays, prints and goes on with is said each time.
COMMANDS: Final[Mapping[str, Mapping[str, Kind]]] = {
    "run": {
        "actor": "texts",
        "plane": "texts",
        "trials": "whole number",
        "jobs": "whole number",
        "pool": "text",
        "executor": "text",
        "sandbox": "text",
        "require_sandbox": "true or false",
        "shadow": "whole number",
        "retries": "whole number",
        "refusals": "whole number",
        "max_time": "text",
        "cut_off_calls": "text",
        "repeat_idempotent": "true or false",
        "keep": "text",
        "keep_workspace": "true or false",
        "stale": "text",
        "report": "texts",
        "policy": "text",
    },
    "check": {"executor": "text", "sandbox": "text"},
    "record": {"sandbox": "text", "max_time": "text"},
    "qualify": {"in_a_row": "whole number", "policy": "text"},
    "compare": {"margin": "number"},
    "report": {"report": "texts", "policy": "text"},
}


def variable(key: str) -> str:
    """The environment variable of an option, for all commands that have it."""
    return f"HARNESS_{key.upper()}"
