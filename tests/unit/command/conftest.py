"""A small workspace with the ways out that a command could try."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.command.places import Places
from harness.command.profile import PROFILES
from harness.schema.command import CallSpec, GrammarContext

GUARD_OPTIONS = ("format", "registry", "runtime-root", "goal-id", "capability", "quiet", "turn-instance-id")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """The directory that holds the roots ``project``, ``runtime`` (absent) and ``home``, and a secret beside them."""
    top = tmp_path.resolve() / "space"
    for folder in ("project/data", "project/.ctl", "home/.codex/loopx"):
        (top / folder).mkdir(parents=True)
    (top / "project/data/lane.json").write_text("{}\n")
    (top / "project/data/other.json").write_text("{}\n")
    (top / "project/.ctl/registry.json").write_text("{}\n")
    (top / "home/.codex/loopx/registry.global.json").write_text("{}\n")
    (top / "secret").mkdir()
    (top / "secret/key").write_text("secret\n")
    (top / "project/out").symlink_to(top / "secret")
    (top / "project/tohome").symlink_to("../home")
    (top / "project/alias.json").symlink_to("data/lane.json")
    (top / "project/loop").symlink_to("loop")
    return top


@pytest.fixture
def context(top: Path) -> GrammarContext:
    return GrammarContext(
        profile="loopx-0.4",
        roots={name: str(top / name) for name in ("project", "runtime", "home")},
        cwd="project",
        readable=("runtime", "home"),
        content=("project/data/lane.json",),
        metadata=("project/.ctl/registry.json", "home/.codex/loopx/registry.global.json"),
        call=CallSpec(
            allow={"quota should-run": GUARD_OPTIONS, "status": ("format",)},
            set={"registry": "/the/registry.json", "turn-instance-id": "turn-1"},
            many=("capability",),
            flags=("quiet",),
            inside=("runtime-root",),
        ),
    )


@pytest.fixture
def places(context: GrammarContext) -> Places:
    return Places(context, PROFILES[context.profile])
