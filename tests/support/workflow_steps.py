"""The workflows that we hand out, as a runner reads them: named steps with their commands, and variables."""

from __future__ import annotations

import re

__all__ = ["steps", "variables"]


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
