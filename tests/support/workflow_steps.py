"""The workflows that we hand out, as a runner reads them: named steps with their commands, and variables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from command_line import CommandLine
from machine import PATIENCE_S

__all__ = ["performed", "steps", "variables"]


def steps(workflow: str) -> dict[str, str]:
    """The commands of each named step that has some."""
    found = re.findall(r"^      - name: (.+)\n((?:^        .*\n|^\n)+)", workflow, re.MULTILINE)
    commands = {}
    for name, body in found:
        line = re.search(r"^        run: (?!\|)(.+)$", body, re.MULTILINE)
        block = re.search(r"^        run: \|\n((?:^          .*\n?)+)", body, re.MULTILINE)
        if line or block:
            commands[name] = line[1] if line else re.sub("^ {10}", "", block[1], flags=re.MULTILINE) if block else ""
    return commands


def variables(workflow: str) -> dict[str, str]:
    """What the workflow's ``env`` sets to a plain text."""
    block = re.search(r"^env:\n((?:  .*\n)+)", workflow, re.MULTILINE)
    assert block is not None
    pairs = re.findall(r"^  (\w+): (.+)$", block[1], re.MULTILINE)
    return {name: value.strip('"') for name, value in pairs if "${{" not in value}


def performed(
    workflow: str, step: str, line: CommandLine, own: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """One step in the shell that a runner uses; ``own`` variables go over those of the workflow."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    more = {**variables(workflow), "PATH": programs, "GITHUB_STEP_SUMMARY": str(line.folder / "page.md"), **own}
    return subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps(workflow)[step]],
        cwd=line.cwd,
        env=line.environment(more),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
